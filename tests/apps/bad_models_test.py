# Damaged and hostile models through the command: each ends in one sentence that names the file, and in exit code 1.
# The readers have tests of their own; here it is shown that nothing on the way to the user loses the sentence.
"""Tests of owml with bad models."""

import os
import struct

import pytest


def text(value):
    raw = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(raw)) + raw


def number(key, value):
    return text(key) + struct.pack("<II", 4, value)


def gguf(tensors, keys, body):
    return b"GGUF" + struct.pack("<IQQ", 3, tensors, keys) + body


ARCHITECTURE = text("general.architecture") + struct.pack("<I", 8) + text("llama")
FLOAT_TENSOR = struct.pack("<IQIQ", 1, 8, 0, 0)  # one axis of 8 float32 at offset 0

BAD_GGUF = {
    "magic alone": b"GGUF",
    "tensor count near 2^64": gguf(2**64 // 24, 0, bytes(64)),
    "key count beyond the file": gguf(0, 2**40, bytes(64)),
    "string length beyond the file": gguf(0, 1, struct.pack("<Q", 2**63) + bytes(64)),
    "data cut short": gguf(1, 1, ARCHITECTURE + text("a") + FLOAT_TENSOR + bytes(8)),
    "alignment of 2^31": gguf(0, 2, ARCHITECTURE + number("general.alignment", 2**31) + bytes(64)),
    "alignment as text": gguf(0, 1, text("general.alignment") + struct.pack("<I", 8) + text("32") + bytes(64)),
    "overlapping tensors": gguf(
        2, 1, ARCHITECTURE + text("a") + FLOAT_TENSOR + text("b") + FLOAT_TENSOR + bytes(128)
    ),
}


@pytest.mark.parametrize("name", BAD_GGUF)
@pytest.mark.parametrize("verb", ["inspect", "generate", "bench"])
def test_a_damaged_gguf_file_is_refused_with_a_sentence(owml, tmp_path, verb, name):
    path = tmp_path / "model.gguf"
    path.write_bytes(BAD_GGUF[name])
    done = owml(verb, path, *(["text"] if verb == "generate" else []))
    assert (done.code, done.out) == (1, "")
    assert str(path) in done.sentence()


@pytest.mark.parametrize(
    "keys, part",
    [
        ({"general.architecture": "abacus"}, "abacus"),
        ({"general.architecture": "llama", "llama.block_count": 513}, "block_count"),
    ],
    ids=["unknown architecture", "513 layers"],
)
def test_a_gguf_model_that_no_engine_can_run_is_refused_with_the_field(owml, tmp_path, keys, part):
    body = b"".join(
        text(key) + struct.pack("<I", 8) + text(value) if isinstance(value, str) else number(key, value)
        for key, value in keys.items()
    )
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf(0, len(keys), body + bytes(64)))
    done = owml("generate", path, "text")
    assert (done.code, done.out) == (1, "")
    assert part in done.sentence()


def external_model(path, location, offset=0, length=16):
    """y = x + w, where the 4 floats of w lie in another file."""
    from onnx import TensorProto, helper

    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", str(offset)), ("length", str(length))):
        weight.external_data.add(key=key, value=value)
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        "test",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])],
        [weight],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    path.write_bytes(model.SerializeToString())
    return path


@pytest.mark.parametrize(
    "location, offset",
    [("../secret.bin", 0), ("{folder}/secret.bin", 0), ("here.bin", 2**64 - 8), ("here.bin", 8), ("none.bin", 0)],
    ids=["climbs out", "absolute", "wraps", "beyond the end", "missing"],
)
def test_external_data_that_must_not_be_read_is_refused(owml, tmp_path, location, offset):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(16))
    (folder / "here.bin").write_bytes(bytes(16))
    path = external_model(folder / "model.onnx", location.format(folder=tmp_path), offset)
    for verb in ("inspect", "run"):
        done = owml(verb, path)
        assert (done.code, done.out) == (1, "")
        assert "tensor 'w'" in done.sentence() or os.path.basename(location) in done.sentence()


def test_external_data_beside_the_model_and_in_a_download_cache_is_read(owml, tmp_path):
    blobs, snapshot = tmp_path / "cache" / "blobs", tmp_path / "cache" / "snapshots" / "main"
    blobs.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    external_model(blobs / "aa11", "weights.bin")
    (blobs / "bb22").write_bytes(struct.pack("<4f", 1, 2, 3, 4))
    (snapshot / "model.onnx").symlink_to("../../blobs/aa11")
    (snapshot / "weights.bin").symlink_to("../../blobs/bb22")
    assert owml("run", snapshot / "model.onnx").code == 0


def test_a_cut_onnx_file_is_refused_with_its_name(owml, mixing_model):
    with open(mixing_model, "r+b") as file:
        file.truncate(os.path.getsize(mixing_model) - 5)
    done = owml("run", mixing_model)
    assert (done.code, done.out) == (1, "")
    assert "mixing.onnx" in done.sentence()


def test_gigabytes_announced_in_a_tiny_onnx_file_are_refused(owml, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"\x08\x0a\x3a\xff\xff\xff\xff\x0f" + bytes(32))
    done = owml("inspect", path)
    assert (done.code, done.out) == (1, "")
    assert "model.onnx" in done.sentence()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_read_permission_is_denied(owml, mixing_model):
    os.chmod(mixing_model, 0)
    assert "ermission denied" in owml("inspect", mixing_model).sentence()
