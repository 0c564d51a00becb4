# `owml inspect`: ONNX and GGUF files, foreign files under a model's name, paths of all kinds.
# Run by ctest through pytest.
"""Tests of owml inspect."""

import os
import struct

import pytest

LFS_POINTER = (
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
    "size 12345\n"
).encode()
HTML_PAGE = b"<!DOCTYPE html>\n<html><head><title>404</title></head></html>\n"
SAFETENSORS = struct.pack("<Q", 64) + b'{"weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}     ' + bytes(4)


def test_an_onnx_model_shows_names_types_and_free_dimensions(owml, mixing_model):
    done = owml("inspect", mixing_model)
    assert done.code == 0
    assert "mixing.onnx  ONNX, " in done.out
    assert "IR version 10, opset ai.onnx 21, producer tests" in done.out
    assert "0  x      float32 [batch, 3]" in done.out
    assert "1  w      float32 [3, ?]" in done.out
    assert "0  y       float32 [batch, ?]" in done.out


def test_an_onnx_model_as_json(owml, mixing_model):
    report = owml("inspect", mixing_model, "--json").json()
    assert report["format"] == "ONNX"
    assert report["opsets"] == {"ai.onnx": 21}
    assert report["bytes"] == os.path.getsize(mixing_model)
    assert report["inputs"] == [
        {"name": "x", "type": "float32", "shape": ["batch", 3]},
        {"name": "w", "type": "float32", "shape": [3, None]},
    ]
    assert report["outputs"] == [{"name": "y", "type": "float32", "shape": ["batch", None]}]


def test_a_gguf_model_shows_metadata_types_and_context_length(owml, gguf):
    from gguf import GGUFReader

    reader = GGUFReader(gguf)
    report = owml("inspect", gguf, "--json").json()
    assert report["format"] == "GGUF"
    assert report["architecture"] == "llama"
    assert report["contextLength"] == int(reader.fields["llama.context_length"].parts[-1][0])
    assert report["tensorCount"] == len(reader.tensors)
    expected = {}
    for tensor in reader.tensors:
        entry = expected.setdefault(tensor.tensor_type.name.lower(), {"tensors": 0, "elements": 0, "bytes": 0})
        entry["tensors"] += 1
        entry["elements"] += int(tensor.n_elements)
        entry["bytes"] += int(tensor.n_bytes)
    assert {name.lower(): entry for name, entry in report["tensorTypes"].items()} == expected
    assert report["metadata"]["llama.block_count"] == 30
    assert report["metadata"]["tokenizer.ggml.tokens"]["count"] == 49152
    text = owml("inspect", gguf)
    assert text.code == 0
    assert "context length 8 192" in text.out


@pytest.mark.parametrize("suffix", [".onnx", ".gguf"])
@pytest.mark.parametrize(
    "content, word",
    [(LFS_POINTER, "Git LFS pointer"), (HTML_PAGE, "HTML page"), (SAFETENSORS, "safetensors")],
    ids=["git-lfs", "html", "safetensors"],
)
def test_a_foreign_file_under_a_models_name_is_named_for_what_it_is(owml, tmp_path, suffix, content, word):
    path = tmp_path / f"model{suffix}"
    path.write_bytes(content)
    for verb in (["inspect"], ["run"] if suffix == ".onnx" else ["chat"]):
        done = owml(*verb, path, *(["hello"] if verb == ["chat"] else []))
        assert (done.code, done.out) == (1, "")
        assert word.lower() in done.sentence().lower()
        assert str(path) in done.sentence()


def test_a_missing_file_is_said_to_be_missing(owml, tmp_path):
    done = owml("inspect", tmp_path / "none.gguf")
    assert done.code == 1
    assert done.sentence() == f"cannot open '{tmp_path}/none.gguf': No such file or directory"


@pytest.mark.parametrize("arguments", [["inspect"], ["run"], ["generate"], ["bench"]])
def test_a_folder_is_not_taken_for_a_file(owml, tmp_path, arguments):
    folder = tmp_path / ("model.onnx" if arguments == ["run"] else "model.gguf")
    folder.mkdir()
    done = owml(*arguments, folder, *(["text"] if arguments == ["generate"] else []))
    assert done.code == 1
    assert "is a folder, not a file" in done.sentence()


def test_an_unknown_extension_names_the_known_ones(owml, mixing_model, tmp_path):
    path = tmp_path / "model.bin"
    os.rename(mixing_model, path)
    sentence = owml("inspect", path).sentence()
    assert ".onnx" in sentence and ".gguf" in sentence


@pytest.mark.parametrize("name", ["with space", "accent-é-ü", "模型-日本語", "quote'\"$"])
def test_paths_of_every_script_work(owml, mixing_model, tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    path = folder / f"{name}.onnx"
    os.rename(mixing_model, path)
    done = owml("inspect", path, "--json")
    assert done.code == 0
    assert done.json()["file"] == str(path)
    assert owml("run", path, "--output-dir", folder / "out").code == 0
    assert (folder / "out" / "y.npy").exists()


def test_a_gguf_model_works_under_a_path_of_another_script(owml, gguf, tmp_path):
    path = tmp_path / "mein modèle 模型.gguf"
    path.symlink_to(gguf)
    assert owml("inspect", path).code == 0
    assert owml("generate", path, "One", "-n", 1).code == 0


def test_control_characters_of_a_file_do_not_reach_the_terminal(owml, tmp_path):
    from conftest import write_onnx
    from onnx import TensorProto, helper

    name = "x\x1b]0;owned\x07"
    path = write_onnx(
        tmp_path / "m.onnx",
        [helper.make_node("Identity", [name], ["y"])],
        [(name, TensorProto.FLOAT, [1])],
        [("y", TensorProto.FLOAT, [1])],
    )
    for verb in ("inspect", "run"):
        done = owml(verb, path)
        assert done.code == 0
        assert "\x1b" not in done.out and "\x07" not in done.out


def test_inspect_names_the_engine_of_a_gguf_file_and_why(owml, gguf):
    report = owml("inspect", gguf, "--json", env={"OWML_ENGINE": "llama"}).json()
    assert report["engine"] == "llama.cpp" and "OWML_ENGINE" in report["engineReason"]
    report = owml("inspect", gguf, "--json", env={"OWML_ENGINE": "native"}).json()
    assert report["engine"] == "native" and "OWML_ENGINE" in report["engineReason"]
    assert "engine native: " in owml("inspect", gguf, env={"OWML_ENGINE": "native"}).out


def shards(folder, tensors, count=None):
    """Writes a model of one tensor a file with the gguf package; `count` of what the files say about themselves."""
    import numpy
    from gguf import GGUFWriter

    paths = []
    for number, (name, shape) in enumerate(tensors):
        paths.append(folder / f"big-{number + 1:05}-of-{len(tensors):05}.gguf")
        writer = GGUFWriter(paths[-1], "llama")
        if number == 0:
            writer.add_context_length(4096)
        writer.add_uint16("split.no", number)
        writer.add_uint16("split.count", count or len(tensors))
        writer.add_int32("split.tensors.count", len(tensors))
        writer.add_tensor(name, numpy.zeros(shape, numpy.float32 if number % 2 == 0 else numpy.float16))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    return paths


TENSORS = [("token_embd.weight", (6, 64)), ("output.weight", (6, 32)), ("output_norm.weight", (64,))]


def test_a_sharded_model_is_shown_as_a_whole(owml, tmp_path):
    paths = shards(tmp_path, TENSORS)
    report = owml("inspect", paths[0], "--json").json()
    assert report["tensorCount"] == 3
    assert report["parameterCount"] == 6 * 64 + 6 * 32 + 64
    assert report["bytes"] == sum(os.path.getsize(path) for path in paths)
    assert report["files"] == [
        {"file": str(path), "bytes": os.path.getsize(path), "tensorCount": 1} for path in paths
    ]
    assert [(tensor["name"], tensor["file"]) for tensor in report["tensors"]] == [
        (name, str(path)) for (name, _), path in zip(TENSORS, paths)
    ]
    types = {name.lower(): total for name, total in report["tensorTypes"].items()}
    assert types["f32"] == {"tensors": 2, "elements": 6 * 64 + 64, "bytes": 4 * (6 * 64 + 64)}
    assert types["f16"] == {"tensors": 1, "elements": 6 * 32, "bytes": 2 * 6 * 32}
    assert report["contextLength"] == 4096

    text = owml("inspect", paths[0]).out
    assert " in 3 files\n" in text
    assert "parameters 640, context length 4 096" in text
    for path in paths:
        assert path.name in text


def test_a_model_in_one_file_lists_that_file(owml, gguf):
    report = owml("inspect", gguf, "--json").json()
    assert [entry["file"] for entry in report["files"]] == [gguf]
    assert {tensor["file"] for tensor in report["tensors"]} == {gguf}
    assert " in 1 file" not in owml("inspect", gguf).out


def test_a_missing_shard_is_named(owml, tmp_path):
    paths = shards(tmp_path, TENSORS)
    os.remove(paths[1])
    done = owml("inspect", paths[0])
    assert (done.code, done.out) == (1, "")
    assert done.sentence() == f"'{paths[0]}' needs 3 shards, but '{paths[1]}' is not there"


def test_a_later_shard_points_to_the_first(owml, tmp_path):
    paths = shards(tmp_path, TENSORS)
    done = owml("inspect", paths[2])
    assert (done.code, done.out) == (1, "")
    assert done.sentence() == f"'{paths[2]}' is shard 3 of 3; load the first shard, '{paths[0]}'"
    error = owml("inspect", paths[2], "--json").json()["error"]
    assert (error["message"], error["hresult"]) == (done.sentence(), "0x80070057")


def test_shards_that_do_not_belong_together_are_refused(owml, tmp_path):
    paths = shards(tmp_path, TENSORS, count=4)
    done = owml("inspect", paths[0])
    assert (done.code, done.out) == (1, "")
    assert "the first of 4 shards" in done.sentence()
