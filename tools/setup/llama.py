# llama.cpp: unpacked from the pinned source package, patched, built once into the cache. Called by main.py.
# cmake/FindOwmlLlama.cmake computes the same key from the same files; change both together.
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

from cache import TREE
from failure import Failure
from packages import Package
from progress import run_build

PATCHES = TREE / "cmake" / "patches"
PROJECT = TREE / "cmake" / "llama"
# Folders of llama.cpp that are compiled; the rest of the package (tools, examples, web pages) is not unpacked.
SOURCE_PARTS = ("CMakeLists.txt", "LICENSE", "cmake", "common", "ggml", "include", "src", "vendor")
DATA_PARTS = ("models",)


def inputs_key(package):
    """The first 16 digits of the SHA-256 over everything that decides what is built."""
    text = package.sha256 + "\n"
    files = sorted([*PATCHES.glob("*.patch"), *PROJECT.iterdir()], key=lambda path: path.relative_to(TREE).as_posix())
    for path in files:
        text += f"{path.relative_to(TREE).as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}\n"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def compiler_label():
    """Family and major version of the C++ compiler that CMake will take, for example gcc12."""
    compiler = os.environ.get("CXX", "c++")
    try:
        text = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
        version = subprocess.run([compiler, "-dumpversion"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise Failure(f"the C++ compiler '{compiler}' cannot be run: {error}") from error
    family = "clang" if "clang" in text else "gcc"
    return family + re.match(r"\d+", version)[0]


def unpack(archive, parts, destination, folder="vendor/llama.cpp"):
    prefix = f"{archive.name[: -len('.tar.gz')]}/{folder}/"
    with tarfile.open(archive, "r:gz") as source:
        for member in source:
            if not member.name.startswith(prefix):
                continue
            relative = member.name[len(prefix) :]
            if relative.split("/")[0] not in parts or not member.isfile():
                continue
            path = destination / relative
            if ".." in pathlib.PurePosixPath(relative).parts:
                raise Failure(f"{archive.name} holds a path that climbs out of its folder: {member.name}")
            path.parent.mkdir(parents=True, exist_ok=True)
            with source.extractfile(member) as read, open(path, "wb") as write:
                shutil.copyfileobj(read, write)


def run(command, environment, log):
    """Runs a short command with its output in the log, which is shown when the command fails."""
    with open(log, "ab") as file:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, env={**os.environ, **environment}
        )
    if done.returncode != 0:
        text = log.read_text(encoding="utf-8", errors="replace")[-3000:]
        raise Failure(f"'{' '.join(command)}' failed:\n{text}")


def provide_llama(cache):
    package = Package("llama_cpp")
    name = f"llama-{package.version}-{inputs_key(package)}-{compiler_label()}"
    if (cache.root / name).exists():
        return
    archive = package.fetch(cache)
    log = cache.root / f"{name}.log"
    log.unlink(missing_ok=True)
    with cache.scratch(name) as work:
        source, build, prefix = work / "source", work / "build", work / "prefix"
        unpack(archive, SOURCE_PARTS, source)
        for patch in sorted(PATCHES.glob("*.patch")):
            run(["patch", "-p1", "--forward", "--no-backup-if-mismatch", "-d", str(source), "-i", str(patch)], {}, log)
        environment = {"CCACHE_DIR": str(cache.root / "ccache"), "CCACHE_BASEDIR": str(work)}
        configure = ["cmake", "-Wno-dev", "-S", str(PROJECT), "-B", str(build), "-G", "Ninja", f"-DOWML_LLAMA_SOURCE={source}"]
        configure += [f"-DCMAKE_INSTALL_PREFIX={prefix}", "-DCMAKE_BUILD_TYPE=Release"]
        if shutil.which("ccache"):
            configure += ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
        run(configure, environment, log)
        cores = len(os.sched_getaffinity(0))
        title = f"Building llama.cpp on {cores} {'core' if cores == 1 else 'cores'}"
        run_build(title, ["ninja", "-C", str(build), f"-j{cores}"], log, environment)
        run(["cmake", "--install", str(build), "--strip"], environment, log)
        os.replace(prefix, cache.root / name)


def provide_llama_data(cache):
    """llama.cpp's vocabularies with their expected tokens, and its chat templates: data for tests."""
    package = Package("llama_cpp")
    name = f"llama-data-{package.version}"
    if (cache.root / name).exists():
        return
    with cache.new_folder(name) as new:
        unpack(package.fetch(cache), DATA_PARTS, new)
