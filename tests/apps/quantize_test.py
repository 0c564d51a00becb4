# `owml quantize`: types and recipes, rows that no block divides, refusals, nothing half-written.
# Run by ctest through pytest. The expected bytes come from the `gguf` package's own quantizers.
"""Tests of owml quantize."""

import os

import numpy
import pytest

gguf_format = pytest.importorskip("gguf")

WIDTH = 64
FEED_FORWARD = 96
VOCABULARY = 40


def write_model(path, width=WIDTH, seed=1, poison=None):
    """One layer of a Llama with random weights in F32."""
    random = numpy.random.default_rng(seed)
    writer = gguf_format.GGUFWriter(os.fspath(path), "llama")
    writer.add_block_count(1)
    writer.add_context_length(64)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(2)
    writer.add_head_count_kv(2)
    writer.add_rope_dimension_count(width // 2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_file_type(0)
    writer.add_tokenizer_model("llama")
    tokens = ["<unk>", "<s>", "</s>"] + [f"t{i}" for i in range(VOCABULARY - 3)]
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * VOCABULARY)
    writer.add_token_types([2, 3, 3] + [1] * (VOCABULARY - 3))
    shapes = {
        "token_embd.weight": (VOCABULARY, width),
        "blk.0.attn_norm.weight": (width,),
        "blk.0.attn_q.weight": (width, width),
        "blk.0.attn_k.weight": (width, width),
        "blk.0.attn_v.weight": (width, width),
        "blk.0.attn_output.weight": (width, width),
        "blk.0.ffn_norm.weight": (width,),
        "blk.0.ffn_gate.weight": (FEED_FORWARD, width),
        "blk.0.ffn_up.weight": (FEED_FORWARD, width),
        "blk.0.ffn_down.weight": (width, FEED_FORWARD),
        "output_norm.weight": (width,),
        "output.weight": (VOCABULARY, width),
    }
    weights = {name: random.standard_normal(shape).astype(numpy.float32) for name, shape in shapes.items()}
    if poison:
        weights[poison].flat[5] = numpy.nan
    for name, data in weights.items():
        writer.add_tensor(name, data)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return weights


def tensors_of(path):
    return {tensor.name: tensor for tensor in gguf_format.GGUFReader(path).tensors}


@pytest.mark.parametrize("name", ["Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1"])
def test_a_type_with_one_definition_gives_the_bytes_of_the_gguf_package(owml, tmp_path, name):
    weights = write_model(tmp_path / "in.gguf")
    assert owml("quantize", tmp_path / "in.gguf", tmp_path / "out.gguf", name, "--pure").code == 0
    kind = gguf_format.GGMLQuantizationType[name]
    compared = 0
    for tensor in tensors_of(tmp_path / "out.gguf").values():
        if tensor.tensor_type != kind:
            continue
        expected = gguf_format.quants.quantize(weights[tensor.name], kind)
        assert numpy.array_equal(tensor.data.reshape(expected.shape), expected), tensor.name
        compared += 1
    assert compared == 9  # every matrix


@pytest.mark.parametrize("name", ["F32", "F16", "BF16"])
def test_plain_types_round_each_weight(owml, tmp_path, name):
    weights = write_model(tmp_path / "in.gguf")
    assert owml("quantize", tmp_path / "in.gguf", tmp_path / "out.gguf", name).code == 0
    kind = gguf_format.GGMLQuantizationType[name]
    tensor = tensors_of(tmp_path / "out.gguf")["blk.0.ffn_down.weight"]
    assert tensor.tensor_type == kind
    expected = gguf_format.quants.quantize(weights[tensor.name], kind)
    assert numpy.array_equal(tensor.data.reshape(expected.shape), expected)


def test_rows_that_no_block_divides_get_the_fall_back_type_and_are_named(owml, tmp_path):
    write_model(tmp_path / "in.gguf")
    report = owml("quantize", tmp_path / "in.gguf", tmp_path / "out.gguf", "q4_k_m", "--json").json()
    # 64 and 96 hold no block of 256: the K types give way to those with blocks of 32.
    assert {"tensor": "blk.0.attn_q.weight", "wanted": "Q4_K", "used": "Q5_0"} in report["fallbacks"]
    assert tensors_of(tmp_path / "out.gguf")["blk.0.attn_q.weight"].tensor_type == gguf_format.GGMLQuantizationType.Q5_0
    assert report["outputBytes"] == os.path.getsize(tmp_path / "out.gguf")
    assert sum(entry["tensors"] for entry in report["tensorTypes"].values()) == 12
    shown = owml("quantize", tmp_path / "in.gguf", tmp_path / "out.gguf", "q4_k_m", "--force")
    assert shown.code == 0
    assert "blk.0.attn_q.weight" in shown.out


def test_a_width_that_no_block_divides_falls_back_to_f16(owml, tmp_path):
    write_model(tmp_path / "in.gguf", width=44)
    report = owml("quantize", tmp_path / "in.gguf", tmp_path / "out.gguf", "Q8_0", "--json").json()
    assert {"tensor": "blk.0.attn_q.weight", "wanted": "Q8_0", "used": "F16"} in report["fallbacks"]


def test_quantized_files_are_quantized_again_on_request_only(owml, tmp_path):
    write_model(tmp_path / "in.gguf")
    assert owml("quantize", tmp_path / "in.gguf", tmp_path / "q8.gguf", "Q8_0").code == 0
    refused = owml("quantize", tmp_path / "q8.gguf", tmp_path / "q4.gguf", "Q4_0")
    assert refused.code == 1
    assert "q8_0 already" in refused.sentence()
    assert not os.path.exists(tmp_path / "q4.gguf")
    assert owml("quantize", tmp_path / "q8.gguf", tmp_path / "q4.gguf", "Q4_0", "--requantize").code == 0


def test_an_existing_output_is_replaced_on_request_only(owml, tmp_path):
    write_model(tmp_path / "in.gguf")
    (tmp_path / "out.gguf").write_text("precious")
    refused = owml("quantize", tmp_path / "in.gguf", tmp_path / "out.gguf", "Q8_0")
    assert refused.code == 1
    assert "exists already" in refused.sentence()
    assert (tmp_path / "out.gguf").read_text() == "precious"
    assert owml("quantize", tmp_path / "in.gguf", tmp_path / "out.gguf", "Q8_0", "--force").code == 0
    itself = owml("quantize", tmp_path / "in.gguf", tmp_path / "in.gguf", "Q8_0", "--force")
    assert itself.code == 1
    assert "is the input itself" in itself.sentence()


def test_bad_weights_types_and_files_are_refused_and_leave_nothing(owml, tmp_path):
    write_model(tmp_path / "nan.gguf", poison="blk.0.ffn_up.weight")
    refused = owml("quantize", tmp_path / "nan.gguf", tmp_path / "out.gguf", "Q8_0")
    assert refused.code == 1
    assert "nan.gguf': tensor 'blk.0.ffn_up.weight' holds numbers that are not finite" in refused.sentence()
    write_model(tmp_path / "in.gguf")
    assert "no type to quantize to" in owml("quantize", tmp_path / "in.gguf", tmp_path / "out.gguf", "Q9").sentence()
    data = (tmp_path / "in.gguf").read_bytes()
    (tmp_path / "cut.gguf").write_bytes(data[: len(data) // 2])
    assert owml("quantize", tmp_path / "cut.gguf", tmp_path / "out.gguf", "Q8_0").code == 1
    assert owml("quantize", tmp_path / "missing.gguf", tmp_path / "out.gguf", "Q8_0").code == 1
    nowhere = owml("quantize", tmp_path / "in.gguf", tmp_path / "no" / "such" / "folder.gguf", "Q8_0")
    assert nowhere.code == 1
    assert "cannot write" in nowhere.sentence()
    assert sorted(os.listdir(tmp_path)) == ["cut.gguf", "in.gguf", "nan.gguf"]


def test_the_quantized_model_generates(owml, tmp_path, gguf):
    assert owml("quantize", gguf, tmp_path / "small.gguf", "Q4_K_M", "--requantize").code == 0
    done = owml("generate", tmp_path / "small.gguf", "The sky is", "-n", "8")
    assert done.code == 0
    assert done.out.strip()
