# Rate, load time and peak memory of our tokenizers beside those of Hugging Face's `tokenizers`, on source code and
# documents of this machine, one string for each file, on one thread. Both sides run in turn, so that clock changes and
# neighbours hit them alike; times are processor time of the thread.
#
#   tokenizer_speed.py PROGRAM FOLDER_OF_TOKENIZERS [--megabytes 20] [--turns 8] [--only NAME]
#
# Run by tools/test --full, and by hand. It calls itself as the other side (--peer).
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import sysconfig
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

TREE = pathlib.Path(__file__).resolve().parents[1]
LARGEST_FILE = 1_000_000
# What the mixture consists of: folders, endings and the share of the bytes.
SOURCES = [
    ([TREE / "src", TREE / "include", TREE / "tests", "/usr/include"], (".h", ".hpp", ".cpp", ".c"), 0.4),
    ([sysconfig.get_paths()["stdlib"], TREE / "bindings"], (".py", ".pyi"), 0.35),
    (
        [TREE / "docs", "/usr/share/doc", "/usr/share/perl", "/usr/share/vim", sysconfig.get_paths()["purelib"]],
        (".md", ".rst", ".txt", ".html", ".pod", ".json", "README", "copyright", "NEWS", "METADATA"),
        0.25,
    ),
]


def files_below(folders, endings, limit):
    """Text files in a fixed order until they hold `limit` bytes."""
    total = 0
    for folder in folders:
        for parent, folders_below, names in os.walk(folder):
            folders_below.sort()
            for name in sorted(names):
                path = os.path.join(parent, name)
                if not name.endswith(endings) or not os.path.isfile(path) or os.path.getsize(path) > LARGEST_FILE:
                    continue
                try:
                    text = pathlib.Path(path).read_text(encoding="utf-8")
                except (UnicodeDecodeError, OSError):
                    continue
                if "\r" in text or "\n" in path:
                    continue  # reading as text would change it
                size = os.path.getsize(path)
                if size == 0:
                    continue
                total += size
                yield path, size
                if total >= limit:
                    return


def mixture(bytes_wanted):
    found = {}
    for folders, endings, share in SOURCES:
        found.update(files_below(folders, endings, share * bytes_wanted))
    missing = bytes_wanted - sum(found.values())
    if missing > 0:  # where there are few documents, more code
        more = files_below(["/usr/include", *SOURCES[1][0], "/usr/lib"], (".h", ".py", ".pm", ".js"), 4 * bytes_wanted)
        for path, size in more:
            if missing <= 0:
                break
            if path not in found:
                found[path] = size
                missing -= size
    return found


class Side:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.load = float(self._read("load")[0])
        self.seconds = self.bytes = self.tokens = 0
        self.rates = []

    def _read(self, word):
        fields = self.process.stdout.readline().split()
        if not fields or fields[0] != word:
            sys.exit(f"{self.process.args[0]} did not answer with '{word}'")
        return fields[1:]

    def turn(self, paths):
        self.process.stdin.write("".join(path + "\n" for path in paths) + "\n")
        self.process.stdin.flush()
        seconds, size, tokens = self._read("turn")
        self.seconds += float(seconds)
        self.bytes += int(size)
        self.tokens += int(tokens)
        self.rates.append(int(size) / float(seconds))

    def finish(self):
        self.process.stdin.close()
        self.peak = int(self._read("peak")[0]) * 1024
        self.process.wait()


def peer(path):
    from tokenizers import Tokenizer

    start = time.thread_time()
    tokenizer = Tokenizer.from_file(path)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    print(f"load {time.thread_time() - start:.6f}", flush=True)
    seconds = size = tokens = 0
    for line in sys.stdin:
        if line == "\n":
            print(f"turn {seconds:.6f} {size} {tokens}", flush=True)
            seconds = size = tokens = 0
            continue
        data = pathlib.Path(line[:-1]).read_bytes()
        text = data.decode("utf-8")
        before = time.thread_time()
        ids = tokenizer.encode(text).ids
        seconds += time.thread_time() - before
        size += len(data)
        tokens += len(ids)
    peak = next(line for line in open("/proc/self/status", encoding="ascii") if line.startswith("VmHWM:"))
    print("peak " + peak.split()[1], flush=True)


def measure(name, path, program, paths, turns):
    ours = Side([program, path])
    theirs = Side([sys.executable, "-B", __file__, "--peer", path])
    for number in range(turns):
        share = paths[number::turns]
        for side in (ours, theirs) if number % 2 else (theirs, ours):
            side.turn(share)
    ours.finish()
    theirs.finish()
    if ours.tokens != theirs.tokens:
        sys.exit(f"{name}: {ours.tokens} tokens, tokenizers gives {theirs.tokens}")
    ratio = statistics.median(mine / other for mine, other in zip(ours.rates, theirs.rates))
    print(
        f"{name:20} {ours.bytes / ours.seconds / 1e6:7.1f} {theirs.bytes / theirs.seconds / 1e6:7.2f} {ratio:7.1f}"
        f" {ours.load:8.3f} {theirs.load:8.3f} {theirs.load / ours.load:6.1f}"
        f" {ours.peak / 1e6:8.0f} {theirs.peak / 1e6:8.0f}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?")
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--peer")
    parser.add_argument("--megabytes", type=float, default=20)
    parser.add_argument("--turns", type=int, default=8)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if options.peer:
        return peer(options.peer)
    files = mixture(options.megabytes * 1e6)
    print(f"{len(files)} files, {sum(files.values()) / 1e6:.1f} MB; rates in MB/s, load in seconds, peak in MB")
    print(f"{'':20} {'ours':>7} {'theirs':>7} {'times':>7}", end="")
    print(f" {'load':>8} {'theirs':>8} {'times':>6} {'peak':>8} {'theirs':>8}")
    for path in sorted(pathlib.Path(options.folder).glob("*/tokenizer.json")):
        if options.only in path.parent.name:
            measure(path.parent.name, str(path), options.program, list(files), options.turns)


if __name__ == "__main__":
    main()
