# The wheel, end to end: built, installed into a fresh environment, used as a user does.
# Run by pytest with -m wheel against a complete build tree; the environment borrows numpy and onnx from this Python.
"""The built wheel works by itself."""

import os
import pathlib
import site
import subprocess
import sys
import venv
import zipfile

import pytest
from conftest import ROOT

pytestmark = pytest.mark.wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    build = os.environ.get("OWML_TEST_BUILD_DIR", "")
    if not build or not (pathlib.Path(build) / "bin" / "owml").exists():
        pytest.skip("OWML_TEST_BUILD_DIR names no complete build tree")
    folder = tmp_path_factory.mktemp("dist")
    command = [str(ROOT / "tools" / "build-wheel"), "--build-dir", build, "--out", str(folder)]
    environment = {**os.environ, "OWML_WHEEL_PYTHON": sys.executable}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    assert done.stdout.strip() == str(path)
    return path


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """The interpreter of an environment with the wheel, and with the other packages of this one behind it."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=True)
    made = folder / "bin" / "python"
    subprocess.run([made, "-m", "pip", "install", "-q", "--no-index", "--no-deps", str(wheel)], check=True)
    where = subprocess.run(
        [made, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    (pathlib.Path(where) / "borrowed.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    return made


def run(python, *arguments, **more):
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("OWML_", "PYTHON", "ONNXRUNTIME"))
    }
    environment.update(more)
    return subprocess.run(
        [str(one) for one in (python, *arguments)], capture_output=True, text=True, env=environment, cwd="/"
    )


def test_wheel_names_its_platform_and_holds_one_copy_of_each_library(wheel):
    assert wheel.name.startswith("openwinml-") and "-py3-none-manylinux_2_" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    libraries = [name for name in names if ".so" in name]
    stems = [pathlib.PurePosixPath(name).name.partition(".so")[0] for name in libraries]
    assert len(stems) == len(set(stems)) and "libwinml_runtime" in stems and "libonnxruntime" not in stems
    assert "openwinml/py.typed" in names and "openwinml/bin/owml" in names


def test_wheel_holds_the_licence_of_every_part(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        named = [line[14:] for line in archive.read(metadata).decode().splitlines() if line.startswith("License-File: ")]
        folder = metadata.replace("METADATA", "licenses/")
        assert all(archive.read(folder + name) for name in named)
    assert set(named) == {
        "LICENSE", "THIRD_PARTY.md", "llama.cpp/LICENSE", "nlohmann_json/LICENSE", "CLI11/LICENSE",
    }  # fmt: skip


def test_package_comes_from_the_wheel(python):
    done = run(python, "-c", "import openwinml.runtime as r; print(r.__file__); r.Runtime().close()")
    assert done.returncode == 0, done.stderr
    assert str(python.parents[1]) in done.stdout


@pytest.mark.parametrize("script", ["01_runtime_onnx.py"])
def test_conformance_script_passes(python, script):
    path = pathlib.Path(os.environ.get("OWML_TEST_CONFORMANCE_DIR", "")) / "scripts" / script
    if not path.is_file():
        pytest.skip("the conformance scripts are not here")
    done = run(python, path)
    assert done.returncode == 0 and "ok" in done.stdout, done.stderr


def test_owml_command_starts(python):
    done = run(python.parent / "owml", "--help")
    assert done.returncode == 0 and "inspect" in done.stdout, done.stderr
    module = run(python, "-m", "openwinml", "--help")
    assert module.stdout == done.stdout


def test_owml_command_reads_and_runs_a_model(python, tmp_path):
    from conftest import write_model
    from onnx import TensorProto, helper

    ends = [("x", TensorProto.FLOAT, [1, 4])], [("y", TensorProto.FLOAT, [1, 4])]
    path = write_model(tmp_path / "m.onnx", [helper.make_node("Add", ["x", "x"], ["y"])], *ends)
    done = run(python.parent / "owml", "run", path)
    assert done.returncode == 0 and "y" in done.stdout, done.stderr


def test_gguf_is_tokenized_by_the_packed_libraries(python, gguf):
    code = f"from openwinml.runtime import Tokenizer; print(Tokenizer.from_file({gguf!r}).encode('Hello world', False))"
    done = run(python, "-c", code)
    assert done.stdout.strip() == "[19556, 905]", done.stderr
