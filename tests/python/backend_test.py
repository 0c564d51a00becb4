# The build backend: names of platforms, contents of wheels.
# Run by pytest; needs a C compiler for the binaries it reads.
"""Wheels say what they need and hold what they promise."""

import pathlib
import shutil
import subprocess
import sys
import zipfile

import pytest
from conftest import ROOT

if sys.version_info < (3, 11):
    pytest.skip("the backend needs Python 3.11", allow_module_level=True)
sys.path.insert(0, str(ROOT / "bindings" / "python" / "backend"))

import elf  # noqa: E402
import openwinml_build as backend  # noqa: E402
import wheel_file  # noqa: E402
from metadata import metadata_text, project_table  # noqa: E402


@pytest.fixture(scope="module")
def compiler():
    found = shutil.which("cc")
    if not found:
        pytest.skip("no C compiler")
    return found


def build(compiler, path, text="int f(void) { return 1; }", *options):
    path.parent.mkdir(parents=True, exist_ok=True)
    source = path.with_suffix(".c")
    source.write_text(text)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(path), str(source), *options], check=True)
    source.unlink()
    return path


def test_needs_of_a_library_are_read(compiler, tmp_path):
    text = "#include <math.h>\ndouble f(double x) { return pow(x, 0.3); }"
    path = build(compiler, tmp_path / "libx.so.1.2", text, "-Wl,-soname,libx.so.1", "-lm")
    found = elf.ElfFile(path)
    assert found.soname == "libx.so.1" and "libm.so.6" in found.needed
    assert "GLIBC_2.29" in found.needed_versions or found.machine != "x86_64"


DAMAGED = {
    "empty": b"",
    "cut": b"\x7fELF",
    "text": b"not a library at all" * 9,
    "wild": b"\x7fELF\x02\x01" + b"\xff" * 80,
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_damaged_library_is_named(tmp_path, content):
    path = tmp_path / "libx.so"
    path.write_bytes(content)
    with pytest.raises(elf.ElfError, match="libx.so"):
        elf.ElfFile(path)


def test_tag_names_the_newest_glibc_symbol(compiler, tmp_path):
    text = "#include <math.h>\ndouble f(double x) { return pow(x, 0.3); }"
    path = build(compiler, tmp_path / "libx.so", text, "-lm")
    tag = backend.platform_tag({"lib/libx.so": path})
    assert tag.startswith("manylinux_2_") and int(tag.split("_")[2]) >= 17


def test_library_that_is_on_no_system_must_be_packed(compiler, tmp_path):
    other = build(compiler, tmp_path / "libother.so", "int g(void) { return 2; }", "-Wl,-soname,libother.so.3")
    path = build(compiler, tmp_path / "libx.so", "int g(void); int f(void) { return g(); }", str(other))
    with pytest.raises(backend.BuildError, match="libother.so.3"):
        backend.platform_tag({"lib/libx.so": path})
    backend.platform_tag({"lib/libx.so": path, "lib/libother.so.3": other})


def installed(compiler, prefix):
    for name in ("runtime", "tokenizer", "tasks"):
        soname = f"libwinml_{name}.so.0"
        build(compiler, prefix / "lib" / f"{soname}.1.0", "int f(void) { return 1; }", f"-Wl,-soname,{soname}")
        (prefix / "lib" / soname).symlink_to(f"{soname}.1.0")
    build(compiler, prefix / "lib" / "modules" / "libmodule.so")
    build(compiler, prefix / "lib" / "libonnxruntime.so.1.32.0")
    build(compiler, prefix / "bin" / "owml")
    return prefix


def test_each_library_is_packed_once_under_the_name_the_loader_asks_for(compiler, tmp_path):
    found = backend.native_files(installed(compiler, tmp_path))
    assert sorted(found) == [
        "bin/owml",
        "lib/libwinml_runtime.so.0",
        "lib/libwinml_tasks.so.0",
        "lib/libwinml_tokenizer.so.0",
        "lib/modules/libmodule.so",
    ]


def test_incomplete_tree_is_refused(compiler, tmp_path):
    prefix = installed(compiler, tmp_path)
    (prefix / "bin" / "owml").unlink()
    with pytest.raises(backend.BuildError, match="owml"):
        backend.native_files(prefix)


def test_folder_that_is_no_built_tree_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("OWML_BUILD_DIR", str(tmp_path))
    with pytest.raises(backend.BuildError, match="not a built tree"):
        backend.install(tmp_path / "prefix")


def test_wheel_is_the_same_on_every_build_and_its_digests_are_right(tmp_path):
    source = tmp_path / "a.py"
    source.write_text("x = 1\n")
    program = tmp_path / "owml"
    program.write_bytes(b"\x7fELF")
    files = {"p/a.py": source, "p/bin/owml": program}
    names = [
        wheel_file.write(tmp_path / one, "p", "1.0", "py3-none-any", files, {"METADATA": "Name: p\n"}) for one in "xy"
    ]
    assert names == ["p-1.0-py3-none-any.whl"] * 2
    first, second = ((tmp_path / one / names[0]).read_bytes() for one in "xy")
    assert first == second and not list(tmp_path.rglob("*.part"))
    with zipfile.ZipFile(tmp_path / "x" / names[0]) as archive:
        assert archive.testzip() is None
        record = archive.read("p-1.0.dist-info/RECORD").decode().splitlines()
        assert {line.split(",")[0] for line in record} == set(archive.namelist())
        assert archive.getinfo("p/bin/owml").external_attr >> 16 & 0o111
        assert not archive.getinfo("p/a.py").external_attr >> 16 & 0o111


def test_metadata_has_the_extras_and_the_readme():
    folder = pathlib.Path(backend.PACKAGE)
    text = metadata_text(project_table(folder / "pyproject.toml"), backend.version(), folder, ["LICENSE"])
    head, _, body = text.partition("\n\n")
    assert 'Requires-Dist: onnxruntime>=1.32; extra == "cpu"' in head and "Provides-Extra: gpu" in head
    assert "License-File: LICENSE" in head
    assert f"Version: {backend.version()}" in head and body == (folder / "README.md").read_text("utf-8")
