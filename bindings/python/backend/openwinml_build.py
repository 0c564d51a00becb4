# Build backend of the Python package (PEP 517): packs the package, the libraries and the owml program into a wheel.
# Called by pip and by tools/build-wheel; uses only Python's own library, so it works without a network.
"""Wheels from a built tree.

The libraries come from `cmake --install` of the folder OWML_BUILD_DIR, or build/release of the checkout.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import tempfile

import wheel_file
from elf import ElfFile
from metadata import metadata_text, project_table

PACKAGE = pathlib.Path(__file__).resolve().parents[1]
ROOT = PACKAGE.parents[1]

#: Libraries of the system that every Linux of the wheel's glibc version has; the others must be in the wheel.
SYSTEM_LIBRARIES = {
    "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libstdc++.so.6", "libgcc_s.so.1",
    "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
}  # fmt: skip

#: The first glibc version whose distributions have each version of libstdc++'s interface.
GLIBC_OF_GLIBCXX = {28: 31, 29: 34, 30: 35, 31: 38, 32: 38, 33: 39}


class BuildError(Exception):
    pass


def version() -> str:
    text = (PACKAGE / "openwinml" / "_version.py").read_text("utf-8")
    found = re.search(r'^VERSION = "([^"]+)"', text, re.MULTILINE)
    if not found:
        raise BuildError("openwinml/_version.py has no VERSION")
    return found.group(1)


def install(prefix: pathlib.Path) -> None:
    """Installs the built tree below `prefix`."""
    build = pathlib.Path(os.environ.get("OWML_BUILD_DIR") or ROOT / "build" / "release")
    if not (build / "cmake_install.cmake").is_file():
        raise BuildError(f"{build} is not a built tree; run tools/build-wheel, or set OWML_BUILD_DIR")
    subprocess.run(
        ["cmake", "--install", str(build), "--prefix", str(prefix), "--strip"], check=True, stdout=subprocess.DEVNULL
    )


def native_files(prefix: pathlib.Path) -> "dict[str, pathlib.Path]":
    """What goes into the wheel of an installed tree, by its path inside the package."""
    found: "dict[str, pathlib.Path]" = {}
    for folder in (prefix / "lib", prefix / "lib64"):
        for path in sorted(folder.rglob("*")):
            # A wheel has no links: each library goes in once, under the name that others ask the loader for.
            if path.is_symlink() or not path.is_file() or not re.search(r"\.so(\.[0-9.]+)?$", path.name):
                continue
            if path.name.startswith("libonnxruntime"):
                continue  # comes with the extras of the package, in the flavour that the user picks
            name = ElfFile(path).soname or path.name
            found[f"lib/{path.parent.relative_to(folder).as_posix()}/{name}".replace("/./", "/")] = path
    program = prefix / "bin" / "owml"
    if program.is_file():
        found["bin/owml"] = program
    wanted = ("libwinml_runtime.so", "libwinml_tokenizer.so", "libwinml_tasks.so")
    missing = [name for name in wanted if not any(path.startswith(f"lib/{name}") for path in found)]
    if missing or "bin/owml" not in found:
        raise BuildError(f"the installed tree lacks {', '.join(missing or ['bin/owml'])}")
    return found


def license_files(prefix: pathlib.Path) -> "dict[str, pathlib.Path]":
    """The licences of what goes into the wheel, by their path below its folder of licences."""
    folder = prefix / "share" / "licenses" / "openwinml"
    found = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: path for name, path in found.items() if not name.startswith("onnxruntime/")}


def platform_tag(files: "dict[str, pathlib.Path]") -> str:
    """The oldest glibc that can load every file, as a tag; checks that nothing else is missing."""
    packed = {path.rsplit("/", 1)[-1] for path in files}
    glibc, machine = (2, 17), None
    for name, path in files.items():
        elf = ElfFile(path)
        if machine not in (None, elf.machine):
            raise BuildError(f"{name} is for {elf.machine}, other files are for {machine}")
        machine = elf.machine
        strangers = sorted(set(elf.needed) - packed - SYSTEM_LIBRARIES)
        if strangers:
            raise BuildError(f"{name} needs {', '.join(strangers)}, neither in the wheel nor on every system")
        for needed in elf.needed_versions:
            family, _, number = needed.partition("_")
            if not re.fullmatch(r"[0-9.]+", number):
                continue
            digits = tuple(int(part) for part in number.split("."))
            if family == "GLIBC":
                glibc = max(glibc, digits[:2])
            elif family == "GLIBCXX" and digits[:2] == (3, 4) and len(digits) > 2:
                newest = max(GLIBC_OF_GLIBCXX)
                if digits[2] > newest:
                    raise BuildError(
                        f"{name} needs GLIBCXX_{number}; GLIBC_OF_GLIBCXX in openwinml_build.py ends at {newest}"
                    )
                glibc = max(glibc, (2, GLIBC_OF_GLIBCXX.get(digits[2], 17)))
    return f"manylinux_{glibc[0]}_{glibc[1]}_{machine}"


def _python_files() -> "dict[str, pathlib.Path]":
    package = PACKAGE / "openwinml"
    found = {}
    for path in sorted(package.rglob("*")):
        relative = path.relative_to(package)
        if path.is_file() and "__pycache__" not in relative.parts and relative.parts[0] not in ("lib", "bin"):
            found[f"openwinml/{relative.as_posix()}"] = path
    return found


def _write(
    directory: str, tag: str, files: "dict[str, pathlib.Path]", licenses: "dict[str, pathlib.Path]"
) -> str:
    project = project_table(PACKAGE / "pyproject.toml")
    scripts = "".join(f"{name} = {target}\n" for name, target in project.get("scripts", {}).items())
    information = {
        "METADATA": metadata_text(project, version(), PACKAGE, list(licenses)),
        "entry_points.txt": f"[console_scripts]\n{scripts}",
        **{f"licenses/{name}": path.read_text("utf-8") for name, path in licenses.items()},
    }
    return wheel_file.write(pathlib.Path(directory), project["name"], version(), f"py3-none-{tag}", files, information)


# Hooks of PEP 517.


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory(prefix="openwinml-wheel-") as folder:
        prefix = pathlib.Path(folder)
        install(prefix)
        native = native_files(prefix)
        files = _python_files()
        files.update({f"openwinml/{name}": path for name, path in native.items()})
        return _write(wheel_directory, platform_tag(native), files, license_files(prefix))


def build_sdist(sdist_directory, config_settings=None):
    raise BuildError("there is no source distribution; the package is built from a checkout of the project")
