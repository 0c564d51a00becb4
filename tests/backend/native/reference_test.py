# Logits of the native engine against float64 computations of the models' papers over the same (dequantized) weights.
# Run by pytest through ctest against the built libraries; the models are random and written by the gguf package.
"""Every architecture as its paper has it."""

import os

import gguf
import numpy as np
import pytest
from openwinml.runtime import Runtime

VOCABULARY, WIDTH, HEADS, KV_HEADS, HEAD, LAYERS, HIDDEN = 200, 96, 6, 2, 32, 4, 160
EPSILON = 1e-6
TOKENS = np.random.default_rng(5).integers(0, VOCABULARY, 40).tolist()


def norm(x, weight):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + EPSILON) * weight


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def silu(x):
    return x / (1 + np.exp(-x))


def gelu(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def cap(x, limit):
    return limit * np.tanh(x / limit) if limit else x


def frequencies(base=10000.0):
    return base ** (-np.arange(0, HEAD, 2) / HEAD)


def turn(x, steps, interleaved, magnitude=1.0):
    """Rotary embedding (RoFormer): x is [n, heads, d]."""
    angles = np.arange(len(x))[:, None, None] * steps
    cos, sin = np.cos(angles) * magnitude, np.sin(angles) * magnitude
    a, b = (x[..., 0::2], x[..., 1::2]) if interleaved else (x[..., : HEAD // 2], x[..., HEAD // 2 :])
    left, right = a * cos - b * sin, a * sin + b * cos
    if interleaved:
        return np.stack([left, right], axis=-1).reshape(x.shape)
    return np.concatenate([left, right], axis=-1)


def yarn_steps(factor, original, base=10000.0, fast=32, slow=1):
    """YaRN, section 3.2: pairs that turn often keep their angle, those that turn rarely are stretched."""

    def pair(turns):
        return HEAD * np.log(original / (turns * 2 * np.pi)) / (2 * np.log(base))

    low, high = max(np.floor(pair(fast)), 0), min(np.ceil(pair(slow)), HEAD - 1)
    kept = 1 - np.clip((np.arange(HEAD // 2) - low) / max(high - low, 0.001), 0, 1)
    return frequencies(base) / factor * (1 - kept) + frequencies(base) * kept


class Model:
    """A random model: tensors for the file, and the same numbers in float64."""

    architecture = "llama"
    interleaved = True
    kind = gguf.GGMLQuantizationType.F32
    width = WIDTH
    query_scale = HEAD**-0.5

    def __init__(self, seed=1):
        self.random = np.random.default_rng(seed)
        self.tensors = {}
        self.weights = {}
        self.make()

    def matrix(self, name, rows, columns):
        data = self.random.uniform(-2, 2, (rows, columns)).astype(np.float32) / np.sqrt(columns).astype(np.float32)
        stored = gguf.quants.quantize(data, self.kind)
        self.tensors[name] = (stored, self.kind)
        self.weights[name] = gguf.quants.dequantize(stored, self.kind).astype(np.float64).reshape(rows, columns)

    def vector(self, name, count, low=0.6, high=1.4):
        data = self.random.uniform(low, high, count).astype(np.float32)
        self.tensors[name] = (data, gguf.GGMLQuantizationType.F32)
        self.weights[name] = data.astype(np.float64)

    def make(self):
        self.matrix("token_embd.weight", VOCABULARY, self.width)
        self.vector("output_norm.weight", self.width)
        self.make_head()
        for i in range(LAYERS):
            self.make_layer(f"blk.{i}.")

    def make_head(self):
        self.matrix("output.weight", VOCABULARY, self.width)

    def make_layer(self, block):
        self.vector(block + "attn_norm.weight", self.width)
        self.make_attention(block)
        self.matrix(block + "attn_output.weight", self.width, HEADS * HEAD)
        self.vector(block + "ffn_norm.weight", self.width)
        self.make_feed_forward(block)
        self.matrix(block + "ffn_down.weight", self.width, HIDDEN)

    def make_attention(self, block):
        self.matrix(block + "attn_q.weight", HEADS * HEAD, self.width)
        self.matrix(block + "attn_k.weight", KV_HEADS * HEAD, self.width)
        self.matrix(block + "attn_v.weight", KV_HEADS * HEAD, self.width)

    def make_feed_forward(self, block):
        self.matrix(block + "ffn_gate.weight", HIDDEN, self.width)
        self.matrix(block + "ffn_up.weight", HIDDEN, self.width)

    def keys(self, writer):
        pass

    def write(self, path):
        writer = gguf.GGUFWriter(path, self.architecture)
        writer.add_block_count(LAYERS)
        writer.add_context_length(1024)
        writer.add_embedding_length(self.width)
        writer.add_feed_forward_length(HIDDEN)
        writer.add_head_count(HEADS)
        writer.add_head_count_kv(KV_HEADS)
        writer.add_key_length(HEAD)
        writer.add_value_length(HEAD)
        writer.add_layer_norm_rms_eps(EPSILON)
        self.keys(writer)
        for name, (data, kind) in self.tensors.items():
            writer.add_tensor(name, data, raw_dtype=kind)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()

    # The paper, step by step; what differs between models is a method.
    def steps(self, layer):
        return frequencies()

    def magnitude(self):
        return 1.0

    def window(self, layer):
        return 0

    def score(self, scores):
        return scores

    def head_norm(self, x, block, name):
        return x

    def queries_keys_values(self, x, block):
        w = self.weights
        return [x @ w[f"{block}attn_{name}.weight"].T for name in "qkv"]

    def attention(self, x, layer):
        block, n = f"blk.{layer}.", len(x)
        q, k, v = self.queries_keys_values(x, block)
        q = self.head_norm(q.reshape(n, HEADS, HEAD), block, "q")
        k = self.head_norm(k.reshape(n, KV_HEADS, HEAD), block, "k")
        q = turn(q, self.steps(layer), self.interleaved, self.magnitude())
        k = turn(k, self.steps(layer), self.interleaved, self.magnitude())
        v = v.reshape(n, KV_HEADS, HEAD)
        distance = np.arange(n)[:, None] - np.arange(n)[None, :]
        hidden = (distance < 0) | ((distance >= self.window(layer)) if self.window(layer) else False)
        out = []
        for head in range(HEADS):
            kv = head * KV_HEADS // HEADS
            scores = self.score(q[:, head] @ k[:, kv].T * self.query_scale)
            out.append(softmax(np.where(hidden, -np.inf, scores)) @ v[:, kv])
        return np.concatenate(out, axis=-1) @ self.weights[block + "attn_output.weight"].T

    def gate_up(self, x, block):
        return x @ self.weights[block + "ffn_gate.weight"].T, x @ self.weights[block + "ffn_up.weight"].T

    def feed_forward(self, x, layer):
        block = f"blk.{layer}."
        gate, up = self.gate_up(x, block)
        return (self.activation(gate) * up) @ self.weights[block + "ffn_down.weight"].T

    activation = staticmethod(silu)

    def embed(self, tokens):
        return self.weights["token_embd.weight"][tokens]

    def layer(self, x, i):
        x = x + self.attention(norm(x, self.weights[f"blk.{i}.attn_norm.weight"]), i)
        return x + self.feed_forward(norm(x, self.weights[f"blk.{i}.ffn_norm.weight"]), i)

    def head(self, x):
        return x @ self.weights["output.weight"].T

    def logits(self, tokens):
        x = self.embed(tokens)
        for i in range(LAYERS):
            x = self.layer(x, i)
        return self.head(norm(x, self.weights["output_norm.weight"]))[-1]


class Llama3(Model):
    def make_head(self):
        super().make_head()
        self.vector("rope_freqs.weight", HEAD // 2, 1, 8)

    def steps(self, layer):
        return frequencies() / self.weights["rope_freqs.weight"]


class LlamaQ8(Llama3):
    kind = gguf.GGMLQuantizationType.Q8_0


class LlamaQ4(Llama3):
    kind = gguf.GGMLQuantizationType.Q4_1


class Mistral(Model):
    def keys(self, writer):
        writer.add_sliding_window(12)

    def window(self, layer):
        return 12


class Qwen2Yarn(Model):
    architecture = "qwen2"
    interleaved = False

    def make_attention(self, block):
        super().make_attention(block)
        for name, heads in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS)):
            self.vector(f"{block}attn_{name}.bias", heads * HEAD, -1, 1)

    def queries_keys_values(self, x, block):
        return [
            part + self.weights[f"{block}attn_{name}.bias"]
            for part, name in zip(super().queries_keys_values(x, block), "qkv")
        ]

    def keys(self, writer):
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(4.0)
        writer.add_rope_scaling_orig_ctx_len(256)

    def steps(self, layer):
        return yarn_steps(4.0, 256)

    def magnitude(self):
        return 1 + 0.1 * np.log(4.0)


class HeadNorms(Model):
    def make_attention(self, block):
        super().make_attention(block)
        self.vector(block + "attn_q_norm.weight", HEAD)
        self.vector(block + "attn_k_norm.weight", HEAD)

    def head_norm(self, x, block, name):
        return norm(x, self.weights[f"{block}attn_{name}_norm.weight"])


class Qwen3(HeadNorms):
    architecture = "qwen3"
    interleaved = False


class Gemma2(Model):
    architecture = "gemma2"
    interleaved = False
    activation = staticmethod(gelu)

    def make_head(self):
        pass

    def make_layer(self, block):
        super().make_layer(block)
        self.vector(block + "post_attention_norm.weight", self.width)
        self.vector(block + "post_ffw_norm.weight", self.width)

    def keys(self, writer):
        writer.add_sliding_window(9)
        writer.add_attn_logit_softcapping(4.0)
        writer.add_final_logit_softcapping(6.0)

    def window(self, layer):
        return 9 if layer % 2 == 0 else 0

    def score(self, scores):
        return cap(scores, 4.0)

    def embed(self, tokens):
        return super().embed(tokens) * np.sqrt(self.width)

    def layer(self, x, i):
        block = f"blk.{i}."
        w = self.weights
        x = x + norm(self.attention(norm(x, w[block + "attn_norm.weight"]), i), w[block + "post_attention_norm.weight"])
        return x + norm(self.feed_forward(norm(x, w[block + "ffn_norm.weight"]), i), w[block + "post_ffw_norm.weight"])

    def head(self, x):
        return cap(x @ self.weights["token_embd.weight"].T, 6.0)


class Gemma3(Gemma2, HeadNorms):
    architecture = "gemma3"

    def keys(self, writer):
        writer.add_sliding_window(9)
        writer.add_array("gemma3.attention.sliding_window_pattern", [True, True, False, True])
        writer.add_rope_freq_base(1000000.0)
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(8.0)

    def window(self, layer):
        return 0 if layer == 2 else 9

    def steps(self, layer):
        return frequencies(1000000.0) / 8 if layer == 2 else frequencies()

    def score(self, scores):
        return scores

    def head(self, x):
        return x @ self.weights["token_embd.weight"].T


class Phi3(Model):
    architecture = "phi3"
    interleaved = False
    width = HEADS * HEAD

    def make_head(self):
        super().make_head()
        self.vector("rope_factors_long.weight", HEAD // 2, 1, 20)
        self.vector("rope_factors_short.weight", HEAD // 2, 1, 2)

    def make_attention(self, block):
        self.matrix(block + "attn_qkv.weight", (HEADS + 2 * KV_HEADS) * HEAD, self.width)

    def make_feed_forward(self, block):
        self.matrix(block + "ffn_up.weight", 2 * HIDDEN, self.width)

    def queries_keys_values(self, x, block):
        return np.split(x @ self.weights[block + "attn_qkv.weight"].T, [HEADS * HEAD, (HEADS + KV_HEADS) * HEAD], axis=-1)

    def gate_up(self, x, block):
        return np.split(x @ self.weights[block + "ffn_up.weight"].T, 2, axis=-1)

    def keys(self, writer):
        writer.add_rope_scaling_type(gguf.RopeScalingType.LONGROPE)
        writer.add_rope_scaling_attn_factors(1.19)
        writer.add_rope_scaling_orig_ctx_len(32)  # the sessions below are longer

    def steps(self, layer):
        return frequencies() / self.weights["rope_factors_long.weight"]

    def magnitude(self):
        return 1.19


class Granite(Model):
    architecture = "granite"
    query_scale = 0.1

    def keys(self, writer):
        writer.add_logit_scale(3.0)
        writer.add_embedding_scale(5.0)
        writer.add_residual_scale(0.4)
        writer.add_attention_scale(0.1)

    def embed(self, tokens):
        return super().embed(tokens) * 5

    def layer(self, x, i):
        x = x + 0.4 * self.attention(norm(x, self.weights[f"blk.{i}.attn_norm.weight"]), i)
        return x + 0.4 * self.feed_forward(norm(x, self.weights[f"blk.{i}.ffn_norm.weight"]), i)

    def head(self, x):
        return super().head(x) / 3


def engine_logits(path, tokens):
    with Runtime() as runtime, runtime.create_cpu_target() as cpu, runtime.load_model(path) as model:
        with runtime.create_pipeline_builder() as builder:
            stage = builder.add_model_stage(model, cpu, "lm")
            stage.set_sequence_capacity_hint(64)
            stage.request_output(0)
            with builder.build() as pipeline, stage:
                with runtime.tensor_from_numpy(np.array([tokens], np.int32)) as tensor:
                    stage.bind_input(0, tensor)
                pipeline.run()
                with stage.output(0) as output:
                    return output.to_numpy().reshape(-1).astype(np.float64)


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
        expected = model.logits(TOKENS[:length])
        actual = engine_logits(path, TOKENS[:length])
        error = np.abs(actual - expected).max() / np.abs(expected).max()
        p, q = softmax(expected), softmax(actual)
        divergence = float(np.sum(p * np.log(p / q)))
        record_property(f"{kind.__name__} {length}", f"relative error {error:.2e}, divergence {divergence:.2e}")
        print(f"{kind.__name__} {length}: relative error {error:.2e}, divergence {divergence:.2e}")
        assert error < limits[0] and divergence < limits[1]
