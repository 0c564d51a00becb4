# The two Python environments in the cache: one whose pip fetches packages, one that runs the tests' Python programs.
# Called by packages.py and main.py.
import hashlib
import subprocess
import sys

from cache import TREE
from failure import Failure
from progress import run_download

FETCH_REQUIREMENTS = TREE / "tools" / "setup" / "requirements-fetch.txt"
FETCH_TESTS_REQUIREMENTS = TREE / "tools" / "setup" / "requirements-fetch-tests.txt"
TEST_REQUIREMENTS = TREE / "tools" / "requirements-test.txt"
# For the progress line only, with Python 3.11 on x86-64: the wheels, but for ONNX Runtime's, and the environment.
TEST_DOWNLOAD_BYTES = 58_500_000
TEST_INSTALLED_BYTES = 338_000_000


def environment_name(kind, requirements):
    """A new pin or another interpreter gives another folder, so that an environment is never changed in place."""
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()[:12]
    return f"python-{kind}-{sys.version_info.major}.{sys.version_info.minor}-{digest}"


def make(cache, kind, requirements, install):
    """Returns the environment's python. A virtual environment knows its own path, so it is made where it stays."""
    folder = cache.root / environment_name(kind, requirements)
    python = folder / "bin" / "python3"
    complete = folder / ".complete"
    if complete.exists():
        return python
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", str(folder)], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if made.returncode != 0:
        raise Failure(f"the Python environment {folder} cannot be made:\n{made.stdout}{made.stderr}")
    install(folder, [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input"])
    complete.touch()
    return python


def install_command(pip, requirements):
    return [*pip, "install", "--require-hashes", "--only-binary", ":all:", "-r", str(requirements)]


def fetch_pip(cache, for_tests=False):
    """The command line of a pip that can also read the metadata of the pinned source packages."""
    requirements = FETCH_TESTS_REQUIREMENTS if for_tests else FETCH_REQUIREMENTS

    def install(folder, pip):
        title = "Fetching what pip needs for source packages"
        size = 1_400_000 if for_tests else 400_000
        run_download(title, install_command(pip, requirements), folder, size, {})

    python = make(cache, "fetch", requirements, install)
    return [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "--no-cache-dir"]


def provide_test_python(cache):
    def install(folder, pip):
        command = install_command(pip, TEST_REQUIREMENTS) + ["--find-links", str(cache.downloads), "--no-cache-dir"]
        title = "Fetching the Python packages of the tests"
        run_download(title, command, folder, TEST_DOWNLOAD_BYTES, {}, TEST_INSTALLED_BYTES)

    make(cache, "test", TEST_REQUIREMENTS, install)
