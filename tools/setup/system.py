# Programs and libraries that come from the system: installed on Debian and Ubuntu, named everywhere else.
# Called by main.py.
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile

from cache import TREE
from failure import Failure

PROBE = TREE / "tools" / "setup" / "probe"


class Need:
    """One program, Python module or library (CMake package) and the Debian package that brings it."""

    def __init__(self, name, version, debian, tests=False, program=None, module=None):
        self.name, self.version, self.debian, self.tests = name, version, debian, tests
        self.program, self.module = program, module

    def __str__(self):
        return f"{self.name} {self.version} or later" if self.version else self.name

    def program_version(self):
        """None when the program is not there."""
        path = shutil.which(self.program)
        if path is None:
            return None
        done = subprocess.run([path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        found = re.search(r"\d+(\.\d+)+", done.stdout + done.stderr)
        return found[0] if found else "0"


def as_numbers(version):
    return [int(part) for part in version.split(".")]


# Versions are the oldest that the build is known to work with.
NEEDS = [
    Need("CMake", "3.25", "cmake", program="cmake"),
    Need("Ninja", "1.10", "ninja-build", program="ninja"),
    Need("GCC, or another C++20 compiler as c++,", "12", "g++", program="c++"),
    Need("ccache", "", "ccache", program="ccache"),
    Need("pkg-config", "", "pkg-config", program="pkg-config"),
    Need("patch", "", "patch", program="patch"),
    Need("Python's venv module", "", "python3-venv", module="ensurepip"),
    # Only its download command is used, for the ONNX Runtime headers.
    Need("Go", "", "golang-go", program="go"),
    Need("nlohmann_json", "3.11", "nlohmann-json3-dev"),
    Need("CLI11", "2.1", "libcli11-dev"),
    Need("fmt", "9.1", "libfmt-dev"),
    # Its headers: the library is loaded where a machine has several memory nodes or threads are pinned.
    Need("hwloc", "2.0", "libhwloc-dev"),
    Need("GTest", "1.12", "libgtest-dev", tests=True),
    Need("GMock", "1.12", "libgmock-dev", tests=True),
    Need("benchmark", "1.7", "libbenchmark-dev", tests=True),
    # Only its pack command is used, for published tokenizer files.
    Need("npm", "", "npm", tests=True, program="npm"),
    Need("clang", "14", "clang", tests=True, program="clang++"),
    Need("clang-format", "14", "clang-format", tests=True, program="clang-format"),
]


def print_requirements():
    for title, tests in (("To build and run:", False), ("For the tests, besides:", True)):
        print(title)
        for need in NEEDS:
            if need.tests == tests:
                print(f"  {str(need):32} Debian, Ubuntu: {need.debian}")
    print("  clang's sanitizer and fuzzer run-time library, where it is a package of its own")


def provide_system_packages(tests):
    needs = [need for need in NEEDS if tests or not need.tests]
    if shutil.which("apt-get") and shutil.which("dpkg-query"):
        install_debian(needs, tests)
    else:
        check_other_system(needs)
    check_versions(needs)


def is_installed(package):
    status = subprocess.run(["dpkg-query", "-W", "-f", "${Status}", package], capture_output=True, text=True)
    return status.stdout == "install ok installed"


def missing_debian(needs):
    """Packages to install; a program that is there counts, whoever brought it."""
    missing = []
    for need in needs:
        if need.module:
            there = importlib.util.find_spec(need.module) is not None
        elif need.program:
            there = shutil.which(need.program) is not None
        else:
            there = is_installed(need.debian)
        if not there:
            missing.append(need.debian)
    return missing


def install_debian(needs, tests):
    apt_get(missing_debian(needs))
    if tests:
        # The package with clang's run-time library carries its major version in the name.
        clang = next(need for need in needs if need.program == "clang++")
        major = (clang.program_version() or "14").split(".")[0]
        package = f"libclang-rt-{major}-dev"
        if not is_installed(package):
            apt_get([package])


def apt_get(packages):
    if not packages:
        return
    names = " ".join(packages)
    if os.geteuid() != 0:
        raise Failure(f"these packages are missing; install them and run this again:\n  apt-get install {names}")
    print(f"Installing {names}", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
    with tempfile.TemporaryFile("w+") as log:
        for command in (["apt-get", "update", "-q"], install):
            code = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=environment
            ).returncode
        if code != 0:
            log.seek(0)
            raise Failure(f"'{' '.join(install)}' failed:\n{log.read()[-3000:]}")


def check_other_system(needs):
    """Neither Debian nor Ubuntu: everything must be there already."""
    missing = [str(need) for need in needs if need.program and shutil.which(need.program) is None]
    missing += [str(need) for need in needs if need.module and importlib.util.find_spec(need.module) is None]
    if shutil.which("cmake"):
        for need in needs:
            if not need.program and not need.module and not cmake_finds(need):
                missing.append(str(need))
    if missing:
        lines = "\n  ".join(missing)
        raise Failure(f"install these with the system's package manager and run this again:\n  {lines}")


def cmake_finds(need):
    with tempfile.TemporaryDirectory(prefix="owml-probe-") as build:
        command = ["cmake", "-G", "Ninja", "-S", str(PROBE), "-B", build]
        command += [f"-DPACKAGE={need.name}", f"-DPACKAGE_VERSION={need.version}"]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0


def check_versions(needs):
    old = []
    for need in needs:
        if need.program and need.version:
            found = need.program_version()
            if found is None or as_numbers(found) < as_numbers(need.version):
                old.append(f"{need} is needed, '{need.program}' is {found or 'missing'}")
    if old:
        raise Failure("\n  ".join(["this system's programs are too old:", *old]))
