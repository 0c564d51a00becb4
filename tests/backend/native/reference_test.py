# Logits of the native engine against float64 computations of the models' papers over the same (dequantized) weights.
# Run by pytest through ctest against the built libraries; the models are random and written by the gguf package.
"""Every architecture as its paper has it."""

import os

import numpy as np
import pytest
from engine_logits import last_logits
from paper_architectures import (
    Gemma2,
    Gemma3,
    Granite,
    Llama3,
    LlamaQ4,
    LlamaQ8,
    Mistral,
    Phi3,
    Qwen2Yarn,
    Qwen3,
)
from paper_model import softmax

TOKENS = np.random.default_rng(5).integers(0, 200, 40).tolist()

# Keys and values are rounded to float16, activations in front of quantized weights to 8 bits.
FLOAT, BYTES = (2e-3, 1e-5), (6e-2, 2e-2)


@pytest.mark.parametrize(
    "kind, limits",
    [
        (Llama3, FLOAT),
        (LlamaQ8, BYTES),
        (LlamaQ4, BYTES),
        (Mistral, FLOAT),
        (Qwen2Yarn, FLOAT),
        (Qwen3, FLOAT),
        (Gemma2, FLOAT),
        (Gemma3, FLOAT),
        (Phi3, FLOAT),
        (Granite, FLOAT),
    ],
)
def test_logits_are_those_of_the_paper(tmp_path, record_property, kind, limits):
    assert os.environ["OWML_ENGINE"] == "native"
    model = kind()
    path = str(tmp_path / "random.gguf")
    model.write(path)
    for length in (1, len(TOKENS)):
        expected = model.logits(TOKENS[:length])[-1]
        actual = last_logits(path, TOKENS[:length])
        error = np.abs(actual - expected).max() / np.abs(expected).max()
        p, q = softmax(expected), softmax(actual)
        divergence = float(np.sum(p * np.log(p / q)))
        record_property(f"{kind.__name__} {length}", f"relative error {error:.2e}, divergence {divergence:.2e}")
        print(f"{kind.__name__} {length}: relative error {error:.2e}, divergence {divergence:.2e}")
        assert error < limits[0] and divergence < limits[1]
