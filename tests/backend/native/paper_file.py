# The paper of Llama over the weights of a model file, in float64.
# Used by the test that compares engines on a real model.
"""A Llama from a file."""

import gguf
import numpy as np
from paper_model import Model, frequencies


class LlamaFile(Model):
    """Matrices are kept as float32, which holds every dequantized weight, and become float64 where they are used."""

    def __init__(self, path):
        reader = gguf.GGUFReader(path)

        def field(key):
            return reader.fields[f"llama.{key}"].contents()

        assert reader.fields["general.architecture"].contents() == "llama"
        self.layers, self.width = field("block_count"), field("embedding_length")
        self.heads, self.kv_heads = field("attention.head_count"), field("attention.head_count_kv")
        self.head_width = self.width // self.heads
        self.epsilon, self.base = field("attention.layer_norm_rms_epsilon"), field("rope.freq_base")
        self.query_scale = self.head_width**-0.5
        self.weights = Weights(reader)
        self.tied = "output.weight" not in self.weights.stored

    def steps(self, layer):
        return frequencies(self.head_width, self.base)

    def head(self, x):
        return x @ self.weights["token_embd.weight" if self.tied else "output.weight"].T


class Weights:
    def __init__(self, reader):
        self.stored = {}
        for tensor in reader.tensors:
            shape = tuple(int(extent) for extent in reversed(tensor.shape))
            self.stored[tensor.name] = gguf.quants.dequantize(tensor.data, tensor.tensor_type).reshape(shape)

    def __getitem__(self, name):
        return self.stored[name].astype(np.float64)
