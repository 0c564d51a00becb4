# `python -m openwinml`: the same as the owml command.
# Called by the interpreter.
import sys

from ._command import main

sys.exit(main())
