# Finds the ONNX Runtime library of whichever flavour is installed, without importing it.
# Called before the native library loads, by the module that loads it and by the owml command.
"""Where the installed ONNX Runtime keeps its library."""

from __future__ import annotations

import importlib.util
import os
import pathlib
from typing import Optional

#: Read by the native library: the file to load, or the folder of a package to look in.
VARIABLE = "OWML_ONNXRUNTIME"
ROOT_VARIABLE = "ONNXRUNTIME_ROOT"

#: How the native library begins the sentence that says there is none.
MISSING = "ONNX Runtime is not available"

#: What to type when there is none.
INSTALL_HINT = (
    "ONNX models need ONNX Runtime: pip install 'openwinml[cpu]' (or 'openwinml[gpu]' on a machine with CUDA), "
    f"or set {VARIABLE} to the path of its library"
)


def installed_library() -> Optional[pathlib.Path]:
    """The library inside the installed onnxruntime package (all flavours share that name), or None."""
    try:
        spec = importlib.util.find_spec("onnxruntime")
    except (ImportError, ValueError):
        return None
    for folder in (spec.submodule_search_locations or []) if spec else []:
        found = sorted(pathlib.Path(folder, "capi").glob("libonnxruntime.so*"))
        if found:
            return found[-1]
    return None


def announce() -> None:
    """Tells the native library where ONNX Runtime is, unless the environment already does."""
    if not os.environ.get(VARIABLE) and not os.environ.get(ROOT_VARIABLE):
        library = installed_library()
        if library:
            os.environ[VARIABLE] = str(library)
