# Rates of the native engine beside those of other engines: the same file, the same threads, in turns, medians; with the
# machine's limits measured in the same runs. Run by hand with the Python of the test environment; see --help.
import argparse
import json
import math
import os
import pathlib
import shlex
import statistics
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TREE / "tools" / "setup"))

import cache as setup_cache  # noqa: E402
import failure as setup_failure  # noqa: E402
import peer_models  # noqa: E402
import peer_programs  # noqa: E402
from peer_runs import Native, Peer, RunFailed, Work, run  # noqa: E402

# Flash attention off and weights repacked at load: the fastest of ik_llama.cpp on a CPU.
BUILT_ARGUMENTS = {"ik": ["-rtr", "1", "-fa", "0"]}

EPILOG = """
Peers: without --peer, those that tools/build-peers has built, for this processor or, with --avx2, for AVX2.
  --peer ik                           one of them
  --peer NAME=PATH                    any program with llama-bench's options and JSON
  --peer "ik=/opt/ik/llama-bench:-rtr 1 -fa 0"   with arguments of its own
A peer that fails at a file or has no such test gets '-' and a line below the tables.

Every rate is the median over --pairs turns; a turn runs each engine once, in a process of its own, after one run in it
that does not count, and the order changes from turn to turn. Ratios are of medians. Shares:
  prompt       rate x 2 x parameters outside embedding and head / 8-bit multiply rate
  generation   rate x bytes of the file / read bandwidth (without the embedding where the head is another tensor)
  at a depth   rate / (rate at depth 0 x file bytes / (file bytes + cache bytes read for a token))
The first two are medians of shares, each of the limit that the same process measured just before.
A long prompt is also held against the time of its tokens at the short prompt's rate and of its attention, 4 x layers x
heads x head width x tokens x tokens / 2 operations, at half of what float_rate (beside owml; built with the benchmarks)
measures: fused multiply-adds, or products of BF16 where the processor has them.

Examples (python: the one in the cache's python-test-* folder):
  tools/build-peers llama ik                   # once
  python bench/peers.py MODEL.gguf --types model,Q8_0,Q4_0,Q4_K_M,F16 --folder /tmp/peers
  python bench/peers.py MODEL.gguf --types model --depth 4000 --long-prompt 8000
  python bench/peers.py --random-rows 1024 --json rows.json
  tools/build-peers llama-avx2 ik-avx2; python bench/peers.py MODEL.gguf --avx2
"""


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="peers.py", description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("model", nargs="?", help="a .gguf file; may be left out with --random-rows")
    add("--types", default="model,Q8_0,Q4_0,Q4_K_M,F16", help="tensor types; model: as it is (%(default)s)")
    add("--random-rows", type=int, metavar="WIDTH", help="also a Llama with random weights and rows of WIDTH")
    add("--random-types", default=",".join(peer_models.RANDOM_TYPES), help="its tensor types (%(default)s)")
    add("--folder", help="where the files made for it are kept; otherwise they are removed")
    add("--peer", action="append", default=[], metavar="NAME[=PATH[:ARGUMENTS]]", help="another engine; repeatable")
    add("--avx2", action="store_true", help="the native engine with AVX2 only, beside peers built for it")
    add("--owml", default=str(TREE / "build" / "release" / "bin" / "owml"), help="the owml command (%(default)s)")
    add("-p", "--prompt", type=int, default=512, help="prompt tokens; 0 leaves the test out (%(default)s)")
    add("-n", "--generate", type=int, default=128, help="generated tokens; 0 leaves the test out (%(default)s)")
    add("--depth", type=int, default=0, metavar="TOKENS", help="also both behind so many tokens, for example 4000")
    add("--long-prompt", type=int, default=0, metavar="TOKENS", help="also a whole prompt of so many, for example 8000")
    add("-t", "--threads", type=int, default=len(os.sched_getaffinity(0)), help="threads of every engine (%(default)s)")
    add("--pairs", type=int, default=5, help="turns (%(default)s)")
    add("--timeout", type=int, default=900, help="seconds for one run (%(default)s)")
    add("--json", metavar="FILE", help="write everything, with every single figure; '-' prints it instead of tables")
    options = parser.parse_args(arguments)
    if not options.model and not options.random_rows:
        parser.error("a model or --random-rows is needed")
    if min(options.pairs, options.threads, options.timeout) < 1:
        parser.error("--pairs, --threads and --timeout begin at 1")
    if min(options.prompt, options.generate, options.depth, options.long_prompt) < 0:
        parser.error("numbers of tokens begin at 0")
    if options.prompt + options.generate + options.long_prompt == 0:
        parser.error("-p 0 -n 0 leave nothing to measure")
    return options


def find_peers(options):
    cache = setup_cache.Cache()
    suffix = "-avx2" if options.avx2 else ""
    built = {
        name[: len(name) - len(suffix)]: program.program(cache)
        for name, program in peer_programs.PEER_PROGRAMS.items()
        if program.avx2_only == options.avx2 and program.program(cache).exists()
    }
    peers = []
    for text in options.peer or built:
        name, named, rest = text.partition("=")
        if named:
            path, _, arguments = rest.partition(":")
            peers.append(Peer(name, path, shlex.split(arguments), options.threads, options.timeout))
        elif name in built:
            peers.append(Peer(name, built[name], BUILT_ARGUMENTS.get(name, []), options.threads, options.timeout))
        else:
            raise SystemExit(f"--peer {name}: not built; run tools/build-peers {name}{suffix}, or give NAME=PATH")
    if not peers:
        raise SystemExit(f"no peer is built; run tools/build-peers llama{suffix}, or give --peer NAME=PATH")
    return peers


def files(options, folder):
    """The files to measure, in two groups with a mean each; one at a time is made."""
    if options.model:
        for kind in options.types.split(","):
            path = options.model
            if kind != "model":
                path = peer_models.requantized(options.owml, options.model, kind, folder, options.threads)
            yield "model", peer_models.ModelFile(path, "as given" if kind == "model" else kind)
    if options.random_rows:
        for kind in options.random_types.split(","):
            path = peer_models.random_llama(kind, options.random_rows, folder)
            yield "random", peer_models.ModelFile(path, kind)
            if not options.folder:
                path.unlink()


def measure(engines, file, work, pairs, failures, first):
    """Samples of every engine that can do the work; the order turns, so that neighbours disturb all alike. The `first`
    work of a file has a turn before, which fills the page cache and the packed cache."""
    samples = {engine.name: [] for engine in engines if engine.can(work)}
    for engine in engines:
        if not engine.can(work):
            failures.append(f"{work.title()}: {engine.name} has no such test")
    for turn in range(0 if first else 1, pairs + 1):
        for i in range(len(engines)):
            engine = engines[(turn + i) % len(engines)]
            if engine.name not in samples:
                continue
            try:
                rate = engine.rate(file.path, work)
            except RunFailed as error:
                if isinstance(engine, Native):
                    raise SystemExit(str(error)) from error
                failures.append(f"{file.label}, {work.title()}: {error}")
                del samples[engine.name]
                continue
            if turn:
                samples[engine.name].append(rate)
    return samples


def works(options):
    list_of = []
    if options.prompt:
        list_of.append(Work("prompt", options.prompt))
    if options.generate:
        list_of.append(Work("generation", options.generate))
    if options.depth:
        list_of += [Work(work.kind, work.tokens, options.depth) for work in list_of]
    if options.long_prompt:
        list_of.append(Work("prompt", options.long_prompt))
    return list_of


class Result:
    """All works of one file."""

    def __init__(self, group, file, native):
        self.group, self.file, self.native = group, file, native
        self.medians, self.samples, self.shares = {}, {}, {}
        self.reports = []

    def measure(self, engines, work, pairs, failures):
        found = measure(engines, self.file, work, pairs, failures, not self.samples)
        self.samples[work.key()] = found
        self.medians[work.key()] = {name: statistics.median(rates) for name, rates in found.items()}
        reports = self.native.reports[-pairs:]
        self.native.reports = []
        if not work.depth:
            self.shares[work.key()] = [self.share_of_limit(work, report) for report in reports]
        self.reports += reports

    def share_of_limit(self, work, report):
        rate = report[f"{work.kind}_tokens_per_second"] / 1e9
        if work.kind == "generation":
            return rate * self.file.token_bytes / report["read_bandwidth_gb_per_second"]
        return rate * self.file.prompt_operations() / report["int8_gops"]

    def finish(self):
        self.bandwidth = statistics.median(report["read_bandwidth_gb_per_second"] for report in self.reports)
        self.multiply_rate = statistics.median(report["int8_gops"] for report in self.reports)
        self.report = self.reports[-1]

    def ratio(self, work, peer):
        rates = self.medians[work.key()]
        return rates["native"] / rates[peer] if peer in rates else None

    def share(self, work):
        """The share as --help has it, and what it is a share of."""
        rate = self.medians[work.key()]["native"]
        if work.depth and work.kind == "generation":
            shallow = self.medians[Work("generation", work.tokens).key()]["native"]
            cache = self.file.cache_bytes(work.depth + work.tokens / 2)
            return rate / (shallow * self.file.token_bytes / (self.file.token_bytes + cache)), "expected at depth"
        if work.depth:
            return None, ""
        of = f"{self.bandwidth:.1f} GB/s" if work.kind == "generation" else f"{self.multiply_rate:.0f} GOPS"
        return statistics.median(self.shares[work.key()]), of

    def long_prompt(self, work, options, float_rate):
        """Seconds of a long prompt, and how many its matrix products at the short prompt's rate and its attention at
        half of the processor's float rate would take; None for other works."""
        if work.kind != "prompt" or work.depth or work.tokens == options.prompt or not options.prompt:
            return None
        short = self.medians[Work("prompt", options.prompt).key()]["native"]
        seconds = {"seconds": work.tokens / self.medians[work.key()]["native"], "products_seconds": work.tokens / short}
        if float_rate:
            seconds["attention_seconds"] = self.file.attention_operations(work.tokens) / (float_rate / 2 * 1e9)
        return seconds

    def to_json(self, all_works, options, float_rate):
        tests = {}
        for work in all_works:
            share, of = self.share(work)
            test = {"rates": self.medians[work.key()], "samples": self.samples[work.key()]}
            test |= {"share": share, "share_of": of, "share_samples": self.shares.get(work.key(), [])}
            test["ratios"] = {name: self.ratio(work, name) for name in self.medians[work.key()] if name != "native"}
            seconds = self.long_prompt(work, options, float_rate)
            if seconds:
                test["long_prompt"] = seconds
            tests[work.key()] = test
        return {
            "group": self.group,
            "type": self.file.label,
            "file": str(self.file.path),
            "bytes": self.file.bytes,
            "bytes_read_per_token": self.file.token_bytes,
            "layer_parameters": self.file.layer_parameters,
            "read_bandwidth_gb_per_second": self.bandwidth,
            "int8_gops": self.multiply_rate,
            "isa": self.report["isa"],
            "tests": tests,
        }


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values)) if values else None


def means(results, work, names):
    """Geometric means of a group's ratios, over the files that the peer could run."""
    found = {name: [result.ratio(work, name) for result in results] for name in names}
    return {name: geometric_mean([ratio for ratio in ratios if ratio]) for name, ratios in found.items()}


def print_table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join([row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]))


def print_tables(results, all_works, names, options, float_rate):
    for work in all_works:
        for group in dict.fromkeys(result.group for result in results):
            chosen = [result for result in results if result.group == group]
            what = "" if group == "model" else f", random Llama with rows of {options.random_rows}"
            print(f"\n{work.title()}{what}, tokens a second")
            head = ["type", "native", "share", "of"]
            for name in names:
                head += [name, "times"]
            rows = [head]
            for result in chosen:
                share, of = result.share(work)
                row = [result.file.label, f"{result.medians[work.key()]['native']:.1f}", f"{100 * share:.0f} %" if share else "", of]
                for name in names:
                    rate, ratio = result.medians[work.key()].get(name), result.ratio(work, name)
                    row += [f"{rate:.1f}", f"{ratio:.2f}"] if rate else ["-", "-"]
                rows.append(row)
            if len(chosen) > 1:
                row = ["geometric mean", "", "", ""]
                for mean in means(chosen, work, names).values():
                    row += ["", f"{mean:.2f}" if mean else "-"]
                rows.append(row)
            print_table(rows)
            for result in chosen:
                seconds = result.long_prompt(work, options, float_rate)
                if seconds:
                    print(f"{result.file.label}: {seconds['seconds']:.2f} s; {long_prompt_text(seconds, options)}")


def long_prompt_text(seconds, options):
    products = f"{seconds['products_seconds']:.2f} s at the rate of {options.prompt} tokens"
    if "attention_seconds" not in seconds:
        return products
    limit = seconds["products_seconds"] + seconds["attention_seconds"]
    attention = f"{seconds['attention_seconds']:.2f} s of attention at half the float rate"
    return f"{products} and {attention} are {limit:.2f} s, {100 * limit / seconds['seconds']:.0f} %"


def measure_all(options, peers, folder):
    native = Native(options.owml, options.threads, "avx2" if options.avx2 else None, options.timeout)
    engines = [native, *peers]
    all_works, results, failures = works(options), [], []
    try:
        for group, file in files(options, folder):
            result = Result(group, file, native)
            for work in all_works:
                print(f"{file.label}: {work.title()} ...", file=sys.stderr, flush=True)
                result.measure(engines, work, options.pairs, failures)
            result.finish()
            results.append(result)
    except KeyboardInterrupt:
        print("stopped; what is complete follows", file=sys.stderr)
    return all_works, results, list(dict.fromkeys(failures))


def float_limits(options):
    """What the float loops reach with as many threads; nothing where their program is not built."""
    program = pathlib.Path(options.owml).with_name("float_rate")
    if not options.long_prompt or not program.exists():
        return {}
    return run([str(program), str(options.threads), *(["avx2"] if options.avx2 else [])], {}, options.timeout)


def report(options, peers, all_works, results, failures, floats):
    names = [peer.name for peer in peers]
    last = results[-1].report
    float_rate = floats.get("bf16_gflops") or floats.get("fma_gflops")
    record = {
        "cpu": last["cpu"],
        "isa": last["isa"],
        "threads": options.threads,
        "pairs": options.pairs,
        "peers": [{"name": p.name, "program": p.program, "arguments": p.arguments} for p in peers],
        **floats,
        "results": [result.to_json(all_works, options, float_rate) for result in results],
        "geometric_means": {
            group: {
                work.key(): means([r for r in results if r.group == group], work, names) for work in all_works
            }
            for group in dict.fromkeys(result.group for result in results)
        },
        "failures": failures,
    }
    if options.json and options.json != "-":
        pathlib.Path(options.json).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    if options.json == "-":
        print(json.dumps(record, indent=2))
        return
    turns = f"{options.pairs} turn{'' if options.pairs == 1 else 's'}"
    print(f"{last['cpu']}; {last['isa']}; threads: {options.threads}; medians of {turns}")
    if floats:
        print(f"floats: {floats['fma_gflops']:.0f} GFLOPS multiplied and added, {floats['bf16_gflops']:.0f} of BF16")
    for peer in peers:
        print(f"{peer.name}: {' '.join([peer.program, *peer.arguments])}")
    print_tables(results, all_works, names, options, float_rate)
    print("".join(f"\n{failure}" for failure in failures))


def main(arguments):
    options = parse(arguments)
    if not os.access(options.owml, os.X_OK):
        raise SystemExit(f"{options.owml} is not there; build owml, or name it with --owml")
    if options.model and not os.path.isfile(options.model):
        raise SystemExit(f"{options.model} is no file")
    try:
        peers = find_peers(options)
    except setup_failure.Failure as error:
        raise SystemExit(str(error)) from error
    if len({peer.name for peer in peers} | {"native"}) != len(peers) + 1:
        raise SystemExit("every --peer needs a name of its own, other than 'native'")
    with tempfile.TemporaryDirectory(prefix="owml-peers-") as temporary:
        folder = pathlib.Path(options.folder or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        all_works, results, failures = measure_all(options, peers, folder)
        if not results:
            return 130
        report(options, peers, all_works, results, failures, float_limits(options))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
