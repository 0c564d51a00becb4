# The other architectures in float64: what their papers do otherwise than Llama.
# Used by the tests that compare engines with them.
"""One class for each architecture, or for each way to turn positions."""

import gguf
import numpy as np
from paper_model import Model, cap, frequencies, gelu, yarn_steps


class Llama3(Model):
    def make_head(self):
        super().make_head()
        self.vector("rope_freqs.weight", self.head_width // 2, 1, 8)

    def steps(self, layer):
        return frequencies(self.head_width) / self.weights["rope_freqs.weight"]


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
        for name, heads in (("q", self.heads), ("k", self.kv_heads), ("v", self.kv_heads)):
            self.vector(f"{block}attn_{name}.bias", heads * self.head_width, -1, 1)

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
        return yarn_steps(self.head_width, 4.0, 256)

    def magnitude(self):
        return 1 + 0.1 * np.log(4.0)


class HeadNorms(Model):
    def make_attention(self, block):
        super().make_attention(block)
        self.vector(block + "attn_q_norm.weight", self.head_width)
        self.vector(block + "attn_k_norm.weight", self.head_width)

    def head_norm(self, x, block, name):
        return self.norm(x, self.weights[f"{block}attn_{name}_norm.weight"])


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
        attention = self.attention(self.norm(x, w[block + "attn_norm.weight"]), i)
        x = x + self.norm(attention, w[block + "post_attention_norm.weight"])
        hidden = self.feed_forward(self.norm(x, w[block + "ffn_norm.weight"]), i)
        return x + self.norm(hidden, w[block + "post_ffw_norm.weight"])

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
        return frequencies(self.head_width, 1000000.0) / 8 if layer == 2 else frequencies(self.head_width)

    def score(self, scores):
        return scores

    def head(self, x):
        return x @ self.weights["token_embd.weight"].T


class Phi3(Model):
    architecture = "phi3"
    interleaved = False
    width = 192

    def make_head(self):
        super().make_head()
        self.vector("rope_factors_long.weight", self.head_width // 2, 1, 20)
        self.vector("rope_factors_short.weight", self.head_width // 2, 1, 2)

    def make_attention(self, block):
        self.matrix(block + "attn_qkv.weight", (self.heads + 2 * self.kv_heads) * self.head_width, self.width)

    def make_feed_forward(self, block):
        self.matrix(block + "ffn_up.weight", 2 * self.hidden, self.width)

    def queries_keys_values(self, x, block):
        queries, keys = self.heads * self.head_width, self.kv_heads * self.head_width
        return np.split(x @ self.weights[block + "attn_qkv.weight"].T, [queries, queries + keys], axis=-1)

    def gate_up(self, x, block):
        return np.split(x @ self.weights[block + "ffn_up.weight"].T, 2, axis=-1)

    def keys(self, writer):
        writer.add_rope_scaling_type(gguf.RopeScalingType.LONGROPE)
        writer.add_rope_scaling_attn_factors(1.19)
        writer.add_rope_scaling_orig_ctx_len(32)  # sessions of the tests are longer

    def steps(self, layer):
        return frequencies(self.head_width) / self.weights["rope_factors_long.weight"]

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
        x = x + 0.4 * self.attention(self.norm(x, self.weights[f"blk.{i}.attn_norm.weight"]), i)
        return x + 0.4 * self.feed_forward(self.norm(x, self.weights[f"blk.{i}.ffn_norm.weight"]), i)

    def head(self, x):
        return super().head(x) / 3
