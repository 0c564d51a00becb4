# Other engines' llama-bench, built from pinned sources into the cache for bench/peers.py to compare with.
# Called by tools/build-peers; bench/peers.py looks up what it built.
import argparse
import hashlib
import os
import pathlib
import shutil
import sys

from cache import Cache
from failure import Failure
from llama import compiler_label, run, unpack
from packages import Package
from progress import run_build

TOOLS_OFF = ["BUILD_TESTS", "BUILD_SERVER", "BUILD_APP", "OPENSSL", "ALL_WARNINGS"]
AVX2_ONLY = ["-DGGML_NATIVE=OFF"]
AVX2_ONLY += [f"-DGGML_{name}=ON" for name in ("SSE42", "AVX", "AVX2", "FMA", "F16C", "BMI2")]
AVX2_ONLY += [f"-DGGML_AVX512{name}=OFF" for name in ("", "_VBMI", "_VNNI", "_BF16")]


class Source:
    """`added` are files, by path, that the build asks for and the package leaves out."""

    def __init__(self, package, folder, parts, options, added=None):
        self.package, self.folder, self.parts, self.options = package, folder, parts, options
        self.added = added or {}


LLAMA = Source(
    "llama_cpp",
    "vendor/llama.cpp",
    ("CMakeLists.txt", "LICENSE", "cmake", "common", "ggml", "include", "src", "tools", "vendor"),
    ["-DLLAMA_BUILD_EXAMPLES=OFF"],
)
# A script that the package leaves out. Without its flash attention ik_llama.cpp misses two symbols, which say here that
# there is none; they go into the one file that the script writes.
IK_BUILD_INFO = """set(BUILD_NUMBER 0)
set(BUILD_COMMIT unknown)
configure_file(common/build-info.cpp.in common/build-info.cpp @ONLY)
file(APPEND common/build-info.cpp [[
extern "C" unsigned long iqk_fa_work_buffer_size(void) { return 0; }
extern "C" bool iqk_flash_attn_noalibi(void) { return false; }
]])
"""
IK = Source(
    "ik_llama_cpp",
    "vendor/ik_llama.cpp",
    ("CMakeLists.txt", "LICENSE", "cmake", "common", "examples", "ggml", "include", "pocs", "src", "vendor"),
    # Measured with flash attention off, whose kernels take most of the time of the build.
    ["-DLLAMA_BUILD_EXAMPLES=ON", "-DGGML_IQK_FLASH_ATTENTION=OFF"],
    {"common/cmake/build-info-gen-cpp.cmake": IK_BUILD_INFO},
)


class PeerProgram:
    def __init__(self, name, what, source, avx2_only):
        self.name, self.what, self.source, self.avx2_only = name, what, source, avx2_only

    def options(self):
        options = [f"-DLLAMA_{name}=OFF" for name in TOOLS_OFF] + self.source.options
        options += ["-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=OFF", "-DGGML_CCACHE=OFF"]
        return options + (AVX2_ONLY if self.avx2_only else ["-DGGML_NATIVE=ON"])

    def folder(self, cache):
        """A program for this very processor is not taken for another one's."""
        package = Package(self.source.package)
        parts = [package.sha256, *self.options(), *self.source.added.values(), "" if self.avx2_only else processor()]
        text = " ".join(parts)
        key = hashlib.sha256(text.encode()).hexdigest()[:12]
        return cache.root / f"peer-{self.name}-{package.version}-{key}-{compiler_label()}"

    def program(self, cache):
        return self.folder(cache) / "llama-bench"

    def build(self, cache, jobs):
        program = self.program(cache)
        if program.exists():
            return program
        with cache.locked():
            archive = Package(self.source.package).fetch(cache)
        name = program.parent.name
        log = cache.root / f"{name}.log"
        log.unlink(missing_ok=True)
        with cache.scratch(name + ".build") as work:
            source, build = work / "source", work / "build"
            unpack(archive, self.source.parts, source, self.source.folder)
            for path, text in self.source.added.items():
                (source / path).parent.mkdir(parents=True, exist_ok=True)
                (source / path).write_text(text, encoding="utf-8")
            # The sources may lie inside somebody's repository, whose commit says nothing about them.
            environment = {"GIT_DIR": str(work / "no-repository"), "CCACHE_DIR": str(cache.root / "ccache")}
            environment |= {"CCACHE_BASEDIR": str(work), "CCACHE_NOHASHDIR": "1"}
            configure = ["cmake", "-Wno-dev", "-S", str(source), "-B", str(build), "-G", "Ninja", *self.options()]
            if shutil.which("ccache"):
                configure += ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
            run(configure, environment, log)
            command = ["ninja", "-C", str(build), f"-j{jobs}", "llama-bench"]
            run_build(f"Building {self.what}", command, log, environment)
            with cache.new_folder(name) as new:
                shutil.copy(build / "bin" / "llama-bench", new)
                shutil.copy(source / "LICENSE", new)
        return program


PEER_PROGRAMS = {
    peer.name: peer
    for peer in (
        PeerProgram("llama", "llama.cpp for this processor", LLAMA, False),
        PeerProgram("llama-avx2", "llama.cpp for AVX2", LLAMA, True),
        PeerProgram("ik", "ik_llama.cpp for this processor, without flash attention", IK, False),
        PeerProgram("ik-avx2", "ik_llama.cpp for AVX2, without flash attention", IK, True),
    )
}


def processor():
    """What -march=native would find out, as Linux tells it."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    words = ("model name", "flags", "Features", "CPU part")
    return "\n".join(sorted({line for line in lines if line.split("\t")[0].strip() in words}))


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="build-peers",
        description="Builds llama-bench of other engines from pinned sources into the cache, for bench/peers.py. "
        "What is built already is not built again.",
        epilog="Peers: " + "; ".join(f"{peer.name}: {peer.what}" for peer in PEER_PROGRAMS.values()) + ".",
    )
    parser.add_argument("peers", nargs="*", metavar="PEER", help="what to build (default: llama)")
    parser.add_argument("-j", "--jobs", type=int, default=len(os.sched_getaffinity(0)), help="files compiled at a time")
    options = parser.parse_args(arguments)
    names = options.peers or ["llama"]
    unknown = [name for name in names if name not in PEER_PROGRAMS]
    if unknown:
        parser.error(f"'{unknown[0]}' is no peer; there are {', '.join(PEER_PROGRAMS)}")
    if options.jobs < 1:
        parser.error(f"--jobs {options.jobs}: at least 1")
    try:
        cache = Cache()
        with cache.locked(".lock-peers"):  # bootstraps do not wait for these builds
            for name in names:
                print(f"{name}: {PEER_PROGRAMS[name].build(cache, options.jobs)}", flush=True)
        return 0
    except Failure as failure:
        print(f"build-peers: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nbuild-peers: stopped; run it again to go on.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
