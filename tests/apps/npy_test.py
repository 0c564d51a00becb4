# Hostile .npy files: each ends in a sentence that names the file, and in exit code 1.
# Run by ctest through pytest.
"""Tests of owml's .npy reader."""

import io
import struct

import numpy as np
import pytest


def npy(header, data=b"", version=1):
    text = header.encode("latin-1")
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + data


def saved(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def header(descr="'<f4'", order="False", shape="(2,)"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"


GOOD = saved(np.array([1, 2], np.float32))

HOSTILE = {
    "empty": (b"", "no .npy file"),
    "text": (b"not a numpy file at all", "no .npy file"),
    "magic alone": (b"\x93NUMPY", "no .npy file"),
    "version 9": (GOOD[:6] + b"\x09" + GOOD[7:], "version 9"),
    "header cut short": (GOOD[:40], "cut short"),
    "header longer than the file": (npy(header())[:8] + b"\xff\xff" + header().encode(), "cut short"),
    "four gigabytes of header": (b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + bytes(100), "cut short"),
    "data cut short": (GOOD[:-1], "needs 8 bytes of data, the file has 7"),
    "bytes after the data": (GOOD + b"x", "needs 8 bytes of data, the file has 9"),
    "no keys": (npy("{}\n"), "element type"),
    "no shape": (npy("{'descr': '<f4', 'fortran_order': False}\n", bytes(8)), "shape"),
    "huge extent": (npy(header(shape="(18446744073709551615,)"), bytes(8)), "float32"),
    "product that wraps": (npy(header(shape="(4294967296, 4294967296, 2)"), bytes(8)), "more than 2^64"),
    "extent beyond 64 bits": (npy(header(shape="(99999999999999999999999,)"), bytes(8)), "shape"),
    "negative extent": (npy(header(shape="(-2,)"), bytes(8)), "shape"),
    "many axes": (npy(header(shape="(" + "1, " * 5000 + ")"), bytes(4)), "shape"),
    "shape without end": (npy(header(shape="(2,"), bytes(8)), "shape"),
    "Fortran order": (saved(np.asfortranarray(np.ones((2, 2), np.float32))), "Fortran order"),
    "object array": (saved(np.array([None, {}], object), allow_pickle=True), "element type"),
    "big-endian": (saved(np.array([1, 2], ">f4")), "element type"),
    "complex": (saved(np.array([1j])), "element type"),
    "text array": (saved(np.array(["a", "b"])), "element type"),
    "record array": (saved(np.zeros(2, [("a", "f4")])), "element type"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_with_a_sentence(owml, identity_model, tmp_path, name):
    content, part = HOSTILE[name]
    path = tmp_path / "x.npy"
    path.write_bytes(content)
    done = owml("run", identity_model("FLOAT"), "-i", f"x={path}")
    assert (done.code, done.out) == (1, "")
    assert done.sentence().startswith(f"'{path}': ")
    assert part in done.sentence()


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_format_version_is_read(owml, identity_model, tmp_path, version):
    with open(tmp_path / "x.npy", "wb") as file:
        np.lib.format.write_array(file, np.array([1, 2], np.float32), version=version)
    done = owml("run", identity_model("FLOAT"), "-i", f"x={tmp_path}/x.npy", "--json")
    assert done.json()["outputs"][0]["first"] == [1, 2]


def test_a_value_that_four_bits_cannot_hold_is_refused(owml, identity_model, tmp_path):
    np.save(tmp_path / "x.npy", np.array([1, 8], np.int8))
    done = owml("run", identity_model("INT4"), "-i", f"x={tmp_path}/x.npy")
    assert done.code == 1
    assert done.sentence() == f"'{tmp_path}/x.npy': 8 at element 1 does not fit int4"


def test_a_missing_file_is_named(owml, identity_model, tmp_path):
    done = owml("run", identity_model("FLOAT"), "-i", f"x={tmp_path}/none.npy")
    assert done.code == 1
    assert f"{tmp_path}/none.npy" in done.sentence()
