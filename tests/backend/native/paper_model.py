# A Llama in float64 as its paper has it, step by step, with random weights that it also writes to a file.
# The other papers (paper_architectures.py) change steps of it; the tests compare engines with it.
"""The mathematics, and the first of the models."""

import gguf
import numpy as np


def norm(x, weight, epsilon):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + epsilon) * weight


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def silu(x):
    return x / (1 + np.exp(-x))


def gelu(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def cap(x, limit):
    return limit * np.tanh(x / limit) if limit else x


def frequencies(width, base=10000.0):
    return base ** (-np.arange(0, width, 2) / width)


def turn(x, steps, interleaved, magnitude=1.0):
    """Rotary embedding (RoFormer): x is [n, heads, d]."""
    angles = np.arange(len(x))[:, None, None] * steps
    cos, sin = np.cos(angles) * magnitude, np.sin(angles) * magnitude
    a, b = (x[..., 0::2], x[..., 1::2]) if interleaved else np.split(x, 2, axis=-1)
    left, right = a * cos - b * sin, a * sin + b * cos
    if interleaved:
        return np.stack([left, right], axis=-1).reshape(x.shape)
    return np.concatenate([left, right], axis=-1)


def yarn_steps(width, factor, original, base=10000.0, fast=32, slow=1):
    """YaRN, section 3.2: pairs that turn often keep their angle, those that turn rarely are stretched."""

    def pair(turns):
        return width * np.log(original / (turns * 2 * np.pi)) / (2 * np.log(base))

    low, high = max(np.floor(pair(fast)), 0), min(np.ceil(pair(slow)), width - 1)
    kept = 1 - np.clip((np.arange(width // 2) - low) / max(high - low, 0.001), 0, 1)
    return frequencies(width, base) / factor * (1 - kept) + frequencies(width, base) * kept


class Model:
    """A random Llama: tensors for the file, and the same numbers in float64."""

    architecture = "llama"
    interleaved = True
    kind = gguf.GGMLQuantizationType.F32
    vocabulary, width, heads, kv_heads, head_width, layers, hidden = 200, 96, 6, 2, 32, 4, 160
    epsilon = 1e-6
    query_scale = 32**-0.5

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
        self.matrix("token_embd.weight", self.vocabulary, self.width)
        self.vector("output_norm.weight", self.width)
        self.make_head()
        for i in range(self.layers):
            self.make_layer(f"blk.{i}.")

    def make_head(self):
        self.matrix("output.weight", self.vocabulary, self.width)

    def make_layer(self, block):
        self.vector(block + "attn_norm.weight", self.width)
        self.make_attention(block)
        self.matrix(block + "attn_output.weight", self.width, self.heads * self.head_width)
        self.vector(block + "ffn_norm.weight", self.width)
        self.make_feed_forward(block)
        self.matrix(block + "ffn_down.weight", self.width, self.hidden)

    def make_attention(self, block):
        self.matrix(block + "attn_q.weight", self.heads * self.head_width, self.width)
        self.matrix(block + "attn_k.weight", self.kv_heads * self.head_width, self.width)
        self.matrix(block + "attn_v.weight", self.kv_heads * self.head_width, self.width)

    def make_feed_forward(self, block):
        self.matrix(block + "ffn_gate.weight", self.hidden, self.width)
        self.matrix(block + "ffn_up.weight", self.hidden, self.width)

    def keys(self, writer):
        pass

    def write(self, path):
        writer = gguf.GGUFWriter(path, self.architecture)
        writer.add_block_count(self.layers)
        writer.add_context_length(1024)
        writer.add_embedding_length(self.width)
        writer.add_feed_forward_length(self.hidden)
        writer.add_head_count(self.heads)
        writer.add_head_count_kv(self.kv_heads)
        writer.add_key_length(self.head_width)
        writer.add_value_length(self.head_width)
        writer.add_layer_norm_rms_eps(self.epsilon)
        writer.add_vocab_size(self.vocabulary)
        writer.add_tokenizer_model("no_vocab")
        self.keys(writer)
        for name, (data, kind) in self.tensors.items():
            writer.add_tensor(name, data, raw_dtype=kind)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()

    # The paper, step by step; what differs between models is a method.
    def steps(self, layer):
        return frequencies(self.head_width)

    def norm(self, x, weight):
        return norm(x, weight, self.epsilon)

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
        q = self.head_norm(q.reshape(n, self.heads, self.head_width), block, "q")
        k = self.head_norm(k.reshape(n, self.kv_heads, self.head_width), block, "k")
        q = turn(q, self.steps(layer), self.interleaved, self.magnitude())
        k = turn(k, self.steps(layer), self.interleaved, self.magnitude())
        v = v.reshape(n, self.kv_heads, self.head_width)
        distance = np.arange(n)[:, None] - np.arange(n)[None, :]
        hidden = (distance < 0) | ((distance >= self.window(layer)) if self.window(layer) else False)
        out = []
        for head in range(self.heads):
            kv = head * self.kv_heads // self.heads
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
        x = x + self.attention(self.norm(x, self.weights[f"blk.{i}.attn_norm.weight"]), i)
        return x + self.feed_forward(self.norm(x, self.weights[f"blk.{i}.ffn_norm.weight"]), i)

    def head(self, x):
        return x @ self.weights["output.weight"].T

    def logits(self, tokens):
        """One row for each token."""
        x = self.embed(tokens)
        for i in range(self.layers):
            x = self.layer(x, i)
        return self.head(self.norm(x, self.weights["output_norm.weight"]))
