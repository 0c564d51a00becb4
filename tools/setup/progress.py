# Runs a command and shows how far it is: one moving line on a terminal, plain lines elsewhere. The command's own output
# goes to a log that is shown when it fails. Called for package clients and for the llama.cpp build.
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from failure import Failure

MEGABYTE = 1e6
TAIL_LINES = 40


def bytes_below(folder):
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(parent, name)).st_size
            except OSError:
                pass  # a temporary file that the client has just removed
    return total


class Line:
    """A line that is rewritten in place on a terminal; elsewhere only its first and last text is printed."""

    def __init__(self, title):
        self.title = title
        self.terminal = sys.stdout.isatty()
        self.begin = time.monotonic()
        self.shown = ""
        if not self.terminal:
            print(f"{title} ...", flush=True)

    def update(self, text):
        if self.terminal and text != self.shown:
            print(f"\r\033[K{self.title}  {text}", end="", flush=True)
            self.shown = text

    def finish(self, text):
        seconds = time.monotonic() - self.begin
        start = "\r\033[K" if self.terminal else ""
        print(f"{start}{self.title}: {text}, {seconds:.0f} s", flush=True)


def tail_of(log):
    lines = pathlib.Path(log).read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(lines[-TAIL_LINES:])


def run_download(title, command, folder, size, environment, written=None):
    """Runs a package client that downloads `size` bytes and writes `written` bytes below `folder`, by default as many."""
    written = written or size
    line = Line(f"{title} ({size / MEGABYTE:.1f} MB)")
    with tempfile.NamedTemporaryFile(prefix="owml-fetch-", suffix=".log") as log:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment},
                cwd=folder,
            )
        except OSError as error:
            raise Failure(f"{command[0]} cannot be started: {error.strerror}") from error
        try:
            while process.poll() is None:
                done = min(bytes_below(folder) / written, 1)
                line.update(f"{done * size / MEGABYTE:.1f} MB  {100 * done:.0f} %")
                time.sleep(0.2)
        except BaseException:
            process.terminate()
            process.wait()
            raise
        if process.returncode != 0:
            line.finish("failed")
            raise Failure(f"{title} failed; the package client said:\n{tail_of(log.name)}")
    line.finish("fetched")


def run_build(title, command, log_path, environment):
    """Runs ninja or another program that counts its steps as [done/all]."""
    line = Line(title)
    steps = re.compile(rb"^\[(\d+)/(\d+)\]")
    next_percent = 10
    with open(log_path, "ab") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment},
        )
        try:
            for text in process.stdout:
                log.write(text)
                found = steps.match(text)
                if found:
                    done, count = int(found[1]), int(found[2])
                    line.update(f"{done} of {count} files")
                    if not line.terminal and 100 * done >= next_percent * count:
                        print(f"  {100 * done // count} %", flush=True)
                        next_percent = 100 * done // count + 10
            process.wait()
        except BaseException:
            process.terminate()
            process.wait()
            raise
    if process.returncode != 0:
        line.finish("failed")
        raise Failure(f"{title} failed; the end of {log_path}:\n{tail_of(log_path)}")
    line.finish("done")
