# Quality of logits: perplexity on prose beside llama.cpp's, and distance to a float64 computation of the paper over the
# same weights. Run by hand, and by tests/backend/native/quality_test.py; see --help.
import argparse
import contextlib
import json
import os
import pathlib
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[1]
for folder in ("tests/backend/native", "tools/setup", "bindings/python"):
    sys.path.insert(0, str(TREE / folder))
os.environ.setdefault("OWML_LIBRARY_DIR", str(TREE / "build" / "release" / "lib"))

from closeness import Closeness, Reference, perplexity_difference  # noqa: E402
from engine_logits import built_stage  # noqa: E402
from openwinml.runtime import Tokenizer  # noqa: E402
from paper_file import LlamaFile  # noqa: E402
from peer_models import requantized  # noqa: E402

import cache as setup_cache  # noqa: E402
import packages as setup_packages  # noqa: E402

EPILOG = """
The text is cut into windows; each starts with an empty context, and every token of it but the first is predicted.
KL is the mean over positions of the Kullback-Leibler divergence from the float64 computation (nats), error the largest
difference of a logit over the largest logit of a window. Beside the difference of perplexities is its standard error.

Example (python: the one in the cache's python-test-* folder):
  python bench/quality.py SmolLM2-135M-Instruct.Q4_1.gguf --folder /tmp/peers --json quality.json
"""


class Quality:
    """What was measured of one file."""

    def __init__(self):
        self.native, self.llama = Closeness(), Closeness()

    def to_json(self):
        difference, deviation = perplexity_difference(self.native, self.llama)
        record = {
            "tokens": len(self.native.surprises),
            "perplexity": {"native": self.native.perplexity(), "llama": self.llama.perplexity()},
            "perplexity_difference": difference,
            "perplexity_difference_deviation": deviation,
        }
        if self.native.divergences:
            ours, theirs = self.native.divergence(), self.llama.divergence()
            record |= {
                "reference_tokens": len(self.native.divergences),
                "divergence": {"native": ours, "llama": theirs},
                "divergence_ratio": ours / theirs,
                "error": {"native": self.native.error, "llama": self.llama.error},
            }
        return record


def measure(path, tokens, window, references, threads=0, say=lambda text: None):
    """Both engines on windows of `tokens`; the first `references` of them also in float64."""
    quality = Quality()
    paper = LlamaFile(path) if references else None
    with contextlib.ExitStack() as stages:
        ours, theirs = (
            stages.enter_context(built_stage(path, window + 1, engine, threads))[2] for engine in ("native", "llama")
        )
        windows = range(0, len(tokens) - window + 1, window)
        for number, begin in enumerate(windows):
            say(f"window {number + 1} of {len(windows)}")
            part = tokens[begin : begin + window]
            reference = Reference(paper.logits(part)) if number < references else None
            quality.native.add(ours, part, reference)
            quality.llama.add(theirs, part, reference)
    return quality


def prose():
    return setup_packages.prose_path(setup_cache.Cache())


def first_tokens(model, path, count):
    """Of a text; fewer where it has no more."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    with Tokenizer.from_file(model) as tokenizer:
        return tokenizer.encode(text[: 12 * count], False)[:count]


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="quality.py",
        description="Perplexity of both engines on prose, and distance of their logits to a float64 computation.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("model", help="a .gguf file of the architecture llama")
    add("--types", default="model,Q8_0,Q4_0,Q4_K_M,F16", help="tensor types; model: as it is (%(default)s)")
    add("--folder", help="where the files made for it are kept; otherwise they are removed")
    add("--text", default=str(prose()), help="UTF-8 text (%(default)s)")
    add("--tokens", type=int, default=20480, help="of the text (%(default)s)")
    add("--window", type=int, default=512, help="tokens of a window (%(default)s)")
    add("--references", type=int, default=8, help="windows that are also computed in float64 (%(default)s)")
    add("-t", "--threads", type=int, default=0, help="of each engine; 0 = as many as it takes (%(default)s)")
    add("--owml", default=str(TREE / "build" / "release" / "bin" / "owml"), help="the owml command (%(default)s)")
    add("--json", metavar="FILE", help="also write the figures")
    options = parser.parse_args(arguments)
    if options.window < 2 or options.tokens < options.window or options.references < 0 or options.threads < 0:
        parser.error("a window has at least 2 tokens, and the text at least one window")
    return options


HEAD = ("", "perplexity", "llama.cpp", "differs", "+-", "KL", "llama.cpp", "times", "error", "llama.cpp")


def row_of(label, record):
    perplexity, divergence = record["perplexity"], record.get("divergence")
    row = [label, f"{perplexity['native']:.4f}", f"{perplexity['llama']:.4f}"]
    row.append(f"{100 * record['perplexity_difference']:+.3f} %")
    row.append(f"{100 * record['perplexity_difference_deviation']:.3f} %")
    if divergence:
        row += [f"{divergence['native']:.2e}", f"{divergence['llama']:.2e}", f"{record['divergence_ratio']:.3f}"]
        row += [f"{record['error']['native']:.1e}", f"{record['error']['llama']:.1e}"]
    return row


def show(row):
    print(row[0].ljust(8), *(cell.rjust(10) for cell in row[1:]), flush=True)


def main(arguments):
    options = parse(arguments)
    tokens = first_tokens(options.model, options.text, options.tokens)
    if len(tokens) < options.tokens:
        raise SystemExit(f"{options.text} has {len(tokens)} tokens, --tokens asks for {options.tokens}")
    records = {}
    show(HEAD)
    with tempfile.TemporaryDirectory(prefix="owml-quality-") as temporary:
        folder = pathlib.Path(options.folder or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for kind in options.types.split(","):
            as_given = kind == "model"
            path = options.model if as_given else requantized(options.owml, options.model, kind, folder, 0)
            label = "as given" if as_given else kind
            quality = measure(
                path,
                tokens,
                options.window,
                options.references,
                options.threads,
                lambda text, label=label: print(f"{label}: {text}", file=sys.stderr, flush=True),
            )
            records[label] = quality.to_json()
            show(row_of(label, records[label]))
            if options.json:
                pathlib.Path(options.json).write_text(json.dumps(records, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
