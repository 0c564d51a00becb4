# The package as a whole: names, version, the compatibility switch, types.
# Run by pytest; needs no library.
"""openwinml offers the names it promises."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import openwinml
import pytest
from conftest import ROOT


def run(code, **options):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, **options).stdout


def test_version_is_that_of_the_project():
    text = (ROOT / "CMakeLists.txt").read_text("utf-8")
    assert re.search(r"project\(OpenWinML VERSION ([0-9.]+)", text).group(1) == openwinml.__version__


def test_windowsml_finds_this_package_after_the_switch():
    code = """
import openwinml
openwinml.install_as_windowsml()
openwinml.install_as_windowsml()
import windowsml, windowsml.runtime, windowsml.tasks
from windowsml.runtime import Runtime
import openwinml.runtime
assert Runtime is openwinml.runtime.Runtime and windowsml.tasks is openwinml.tasks
"""
    run(code)


def test_switch_refuses_to_hide_another_windowsml(tmp_path):
    (tmp_path / "windowsml.py").write_text("")
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import windowsml, openwinml
try:
    openwinml.install_as_windowsml()
except ImportError as error:
    assert "windowsml.py" in str(error), error
else:
    raise SystemExit("no error")
"""
    run(code)


def test_missing_library_is_named_with_its_folder(tmp_path):
    code = """
import openwinml.runtime
try:
    openwinml.runtime.Runtime()
except ImportError as error:
    print(error)
"""
    said = run(code, env={**os.environ, "OWML_LIBRARY_DIR": str(tmp_path)})
    assert "libwinml_runtime.so" in said and str(tmp_path) in said and "OWML_LIBRARY_DIR" in said


def test_import_loads_no_native_library():
    run("import openwinml.runtime, openwinml.tasks; assert 'libwinml' not in open('/proc/self/maps').read()")


def test_installed_onnx_runtime_is_found_without_importing_it(tmp_path):
    (tmp_path / "onnxruntime" / "capi").mkdir(parents=True)
    (tmp_path / "onnxruntime" / "__init__.py").write_text("raise SystemExit('imported')")
    library = tmp_path / "onnxruntime" / "capi" / "libonnxruntime.so.1.99.0"
    library.touch()
    code = f"""
import os, sys
sys.path.insert(0, {str(tmp_path)!r})
from openwinml import _onnxruntime
_onnxruntime.announce()
print(os.environ.get("OWML_ONNXRUNTIME"))
"""
    plain = {name: value for name, value in os.environ.items() if name not in ("OWML_ONNXRUNTIME", "ONNXRUNTIME_ROOT")}
    assert run(code, env=plain).strip() == str(library)
    assert run(code, env={**plain, "OWML_ONNXRUNTIME": "mine.so"}).strip() == "mine.so"
    assert run(code, env={**plain, "ONNXRUNTIME_ROOT": "/mine"}).strip() == "None"


def test_every_annotation_can_be_checked():
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    package = pathlib.Path(openwinml.__file__).parent
    assert (package / "py.typed").exists()
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--cache-dir", "/dev/null", str(package)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def test_names_are_sorted_and_complete():
    import openwinml.runtime
    import openwinml.tasks

    for module in (openwinml.runtime, openwinml.tasks):
        assert module.__all__ == sorted(module.__all__)
        public = {name for name, value in vars(module).items() if not name.startswith("_") and isinstance(value, type)}
        assert public == set(module.__all__)
