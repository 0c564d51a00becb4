# The `owml` command of the installed package: starts the packed program in place of the interpreter.
# Called by the console script and by `python -m openwinml`.
"""Runs the packed `owml` program."""

from __future__ import annotations

import os
import pathlib
import sys

from . import _onnxruntime


def main() -> int:
    program = pathlib.Path(__file__).resolve().parent / "bin" / "owml"
    if not program.is_file():
        print(f"owml: this installation holds no program at {program}", file=sys.stderr)
        return 127
    _onnxruntime.announce()
    os.execv(program, ["owml", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
