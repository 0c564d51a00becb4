# One run of one engine in a process of its own: the native engine through `owml bench`, others through llama-bench or a
# program with its options and its JSON. Called by peers.py.
import json
import os
import pathlib
import subprocess


class RunFailed(Exception):
    """A program did not give the figures; the message says which one and what it wrote."""


class Work:
    """What is timed: a whole prompt or single tokens, behind `depth` others."""

    def __init__(self, kind, tokens, depth=0):
        self.kind, self.tokens, self.depth = kind, tokens, depth

    def title(self):
        text = f"prompt of {self.tokens} tokens" if self.kind == "prompt" else f"{self.tokens} tokens generated"
        return text + (f" behind {self.depth}" if self.depth else "")

    def key(self):
        return f"{self.kind}_{self.tokens}" + (f"_at_{self.depth}" if self.depth else "")


def run(command, environment, timeout):
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            env={**os.environ, **environment},
        )
    except subprocess.TimeoutExpired:
        raise RunFailed(f"'{' '.join(command)}' took more than {timeout} s") from None
    except OSError as error:
        raise RunFailed(f"{command[0]} cannot be run: {error.strerror}") from error
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "nothing was written").splitlines()[-3:]
        raise RunFailed(f"'{' '.join(command)}' ended with {done.returncode}: {' / '.join(last)}")
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError as error:
        raise RunFailed(f"'{' '.join(command)}' printed no JSON: {error}") from error


class Native:
    """Our engine; every run also measures the limits of the machine with the same threads."""

    name = "native"

    def __init__(self, owml, threads, isa, timeout):
        self.owml, self.threads, self.timeout = str(owml), threads, timeout
        self.environment = {"OWML_FORCE_ISA": isa} if isa else {}
        self.isa = isa
        self.reports = []

    def can(self, work):
        return True

    def rate(self, model, work):
        counts = {"prompt": 0, "generation": 0, work.kind: work.tokens}
        command = [self.owml, "bench", str(model), "--engine", "native", "--json", "-r", "1", "-t", str(self.threads)]
        command += ["-p", str(counts["prompt"]), "-n", str(counts["generation"]), "--depth", str(work.depth)]
        report = run(command, self.environment, self.timeout)
        if report["engine"] != "native" or (self.isa and report["isa"] != self.isa):
            raise RunFailed(f"'{' '.join(command)}' ran {report['engine']} with {report['isa']}")
        self.reports.append(report)
        return report[f"{work.kind}_tokens_per_second"]


class Peer:
    """A program with llama-bench's options and JSON."""

    def __init__(self, name, program, arguments, threads, timeout):
        self.name, self.program, self.arguments = name, str(pathlib.Path(program).expanduser()), arguments
        self.threads, self.timeout = threads, timeout
        try:
            done = subprocess.run(
                [self.program, "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SystemExit(f"--peer {name}: {self.program} cannot be run: {error}") from error
        options = done.stdout + done.stderr
        self.has_depth, self.has_generation_behind_prompt = "--n-depth" in options, "-gp" in options

    def can(self, work):
        """Forks that have no depth may still time generation behind a prompt."""
        return not work.depth or self.has_depth or (work.kind == "generation" and self.has_generation_behind_prompt)

    def rate(self, model, work):
        command = [self.program, "-m", str(model), "-r", "1", "-t", str(self.threads), "-o", "json"]
        prompt = work.tokens if work.kind == "prompt" else 0
        generated = work.tokens - prompt
        if work.depth and not self.has_depth:
            prompt = work.depth
            command += ["-p", "0", "-n", "0", "-gp", f"{prompt},{generated}"]
        else:
            command += ["-p", str(prompt), "-n", str(generated)]
            if work.depth:
                command += ["-d", str(work.depth)]
        command += self.arguments
        for test in run(command, {}, self.timeout):
            if (test.get("n_prompt"), test.get("n_gen")) == (prompt, generated):
                return test["avg_ts"]
        raise RunFailed(f"'{' '.join(command)}' did not measure {work.title()}")
