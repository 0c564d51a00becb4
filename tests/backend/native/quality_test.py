# How close the engine's logits are to float64 computations of the papers, measured by how close llama.cpp's are; and
# perplexity on prose. Run by pytest through ctest; the whole of it where OWML_FULL_TESTS is set, which takes long.
"""Quality beside llama.cpp."""

import os
import pathlib
import sys

import gguf
import numpy as np
import pytest
from closeness import Closeness, Reference
from engine_logits import built_stage
from paper_architectures import Gemma3, Llama3, Qwen3

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench"))

import quality  # noqa: E402

FULL = "OWML_FULL_TESTS" in os.environ
MODEL, OWML = os.environ["OWML_TEST_SMOLLM2"], os.environ["OWML_TEST_COMMAND"]
TYPES = ("F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1")
LENGTH = 256
THREADS = 1  # on a busy machine the threads of llama.cpp wait for each other


def closeness_to_the_paper(model, path, sequences):
    """Of the native engine and of llama.cpp, each on the same sequences of random tokens."""
    random = np.random.default_rng(7)
    found = [Closeness(), Closeness()]
    native, llama = (built_stage(path, LENGTH, engine, THREADS) for engine in ("native", "llama"))
    with native as (_, _, ours), llama as (_, _, theirs):
        for _ in range(sequences):
            tokens = random.integers(0, model.vocabulary, LENGTH).tolist()
            reference = Reference(model.logits(tokens))
            for closeness, stage in zip(found, (ours, theirs)):
                closeness.add(stage, tokens, reference)
    return found


# Eight bits for activations in front of quantized weights, sixteen for keys and values, in both engines. With 8192
# tokens chance moves the ratio of two such divergences by some hundredths.
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("architecture", [Llama3, Qwen3, Gemma3])
def test_random_models_are_as_close_to_the_paper_as_in_llama_cpp(tmp_path, record_property, architecture, kind):
    model = type("Random", (architecture,), {"kind": gguf.GGMLQuantizationType[kind]})()
    path = str(tmp_path / "random.gguf")
    model.write(path)
    ours, theirs = closeness_to_the_paper(model, path, 32 if kind.startswith("Q") else 4)
    ratio = ours.divergence() / theirs.divergence()
    text = f"divergence {ours.divergence():.2e}, llama.cpp {theirs.divergence():.2e}, ratio {ratio:.3f}, "
    text += f"error {ours.error:.1e}, llama.cpp {theirs.error:.1e}"
    record_property(f"{architecture.__name__} {kind}", text)
    print(f"{architecture.__name__} {kind}: {text}")
    assert ratio <= 1.05
    assert ours.error < (2e-3 if kind in ("F32", "F16") else 8e-2)


def smollm2(kind, folder):
    if not MODEL:
        pytest.skip("SmolLM2 was not fetched (tools/bootstrap)")
    return MODEL if kind == "Q4_1" else quality.requantized(OWML, MODEL, kind, folder, 0)


def prose_tokens(count):
    text = quality.prose()
    if not text.exists():
        pytest.skip("the prose was not fetched (tools/bootstrap --tests)")
    return quality.first_tokens(MODEL, text, count)


def test_smollm2_is_close_to_the_paper(record_property):
    path = smollm2("Q4_1", None)
    record = quality.measure(path, prose_tokens(64), 64, 1, THREADS).to_json()
    record_property("SmolLM2 Q4_1, 64 tokens", str(record))
    assert record["error"]["native"] < 8e-2 and record["divergence"]["native"] < 1e-2


@pytest.mark.skipif(not FULL, reason="takes an hour; OWML_FULL_TESTS=1 runs it")
@pytest.mark.parametrize("kind", ["Q4_1", "Q8_0", "Q4_0", "Q4_K_M", "F16"])
def test_smollm2_on_prose_is_as_good_as_in_llama_cpp(tmp_path, record_property, kind):
    path = smollm2(kind, tmp_path)
    record = quality.measure(path, prose_tokens(20480), 512, 8).to_json()
    record_property(f"SmolLM2 {kind}", str(record))
    print(f"SmolLM2 {kind}: {record}")
    assert record["divergence_ratio"] <= 1.05
    assert abs(record["perplexity_difference"]) <= 2e-3
