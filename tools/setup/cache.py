# The cache folder outside the tree, and the two ways into it: a checked file and a folder that appears complete or not
# at all. Called by every step that fetches or builds.
import contextlib
import fcntl
import hashlib
import os
import pathlib
import shutil

from failure import Failure

TREE = pathlib.Path(__file__).resolve().parents[2]


def sha256_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def check_sha256(path, expected):
    """A file that is not the pinned one is never used, nor left where a later run would take it."""
    found = sha256_of(path)
    if found != expected:
        rejected = path.with_name(path.name + ".rejected")
        os.replace(path, rejected)
        raise Failure(
            f"{path.name} is not the pinned file: expected SHA-256 {expected}, found {found}. "
            f"The file was moved to {rejected}."
        )


class Cache:
    def __init__(self):
        environment = os.environ
        if environment.get("OWML_CACHE_DIR"):
            root = pathlib.Path(environment["OWML_CACHE_DIR"])
        elif environment.get("XDG_CACHE_HOME"):
            root = pathlib.Path(environment["XDG_CACHE_HOME"]) / "openwinml"
        else:
            root = pathlib.Path.home() / ".cache" / "openwinml"
        self.root = root.absolute()
        self.downloads = self.root / "downloads"
        try:
            self.downloads.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Failure(
                f"the cache folder {self.root} cannot be made: {error.strerror}. Set OWML_CACHE_DIR to a folder "
                "that can be written."
            ) from error

    @contextlib.contextmanager
    def locked(self, name=".lock"):
        """One bootstrap at a time in a cache; a second one waits, then finds everything there."""
        with open(self.root / name, "w", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                print("Waiting for another bootstrap that uses the same cache", flush=True)
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    @contextlib.contextmanager
    def new_folder(self, name):
        """Yields an empty folder `name.incomplete`; it is renamed to `name` when the block ends without an exception."""
        incomplete = self.root / (name + ".incomplete")
        if incomplete.exists():
            shutil.rmtree(incomplete)
        incomplete.mkdir(parents=True)
        yield incomplete
        os.replace(incomplete, self.root / name)

    @contextlib.contextmanager
    def scratch(self, name):
        """Yields an empty folder that is removed when the block ends well; after a failure it is left to be looked at."""
        folder = self.root / (name + ".incomplete")
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        yield folder
        shutil.rmtree(folder)

    def new_file(self, path):
        return path.with_name(path.name + ".incomplete")
