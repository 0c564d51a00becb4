# Compiles every public header by itself, in each language it is meant for, with all warnings as errors.
# Run by ctest once for each compiler; exits 77 (skipped) where the compiler is not installed.
"""usage: headers_compile_alone.py INCLUDE_FOLDER C_COMPILER CXX_COMPILER"""

import os
import pathlib
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
CXX_WARNINGS = ["-Wnon-virtual-dtor", "-Woverloaded-virtual"]
CXX_ONLY = {"WinMLRuntimeRAII.h", "portable/wrl.h", "portable/wrl/client.h", "portable/wrl/implements.h",
            "portable/winrt/base.h", "portable/winml_portable/implements.h"}  # fmt: skip


def variants(name: str) -> list[tuple[str, list[str]]]:
    """(language, further options) for each way in which the header must compile."""
    result = [("c++", [])]
    if name.endswith(".h") and name not in CXX_ONLY and not name.startswith("winml/"):
        result += [("c", []), ("c", ["-DCOBJMACROS"])]
        if name.startswith("WinML"):
            result.append(("c++", ["-DCINTERFACE", "-DCOBJMACROS"]))
    return result


def main() -> int:
    include, c, cxx = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    if not shutil.which(c) or not shutil.which(cxx):
        print(f"skipped: no {c}, {cxx}")
        return 77
    headers = sorted(str(path.relative_to(include)) for path in include.rglob("*") if path.suffix in (".h", ".hpp"))
    jobs = [(name, language, options) for name in headers for language, options in variants(name)]

    def compile_one(job: tuple[str, str, list[str]]) -> str:
        name, language, options = job
        standard = ["-std=c11"] if language == "c" else ["-std=c++20"] + CXX_WARNINGS
        spelled = name.removeprefix("portable/")
        text = f"#include <{spelled}>\n" * 2 + "extern int not_empty;\n"  # twice: the guard works
        run = subprocess.run(
            [c if language == "c" else cxx, *standard, *WARNINGS, *options, f"-I{include}", f"-I{include / 'portable'}",
             "-fsyntax-only", "-x", language, "-"],
            input=text, text=True, capture_output=True)  # fmt: skip
        return f"{name} as {language} {' '.join(options)}:\n{run.stderr}" if run.returncode else ""

    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        failures = [text for text in pool.map(compile_one, jobs) if text]
    print("\n".join(failures))
    print(f"{cxx}: {len(headers)} headers, {len(jobs)} compilations, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
