# The model files that engines are compared on: a given one in other tensor types, and a Llama with random weights.
# Called by peers.py.
import json
import pathlib
import subprocess

import gguf
import numpy as np

Type = gguf.GGMLQuantizationType

# The types whose rows must be multiples of 256 or that the first file does not hold.
RANDOM_TYPES = ("Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "MXFP4", "Q5_0", "Q5_1", "BF16")
# Where a block of a type has its half-precision scales, in bytes; everything else in it may be any bits.
HALF_SCALES = {
    "Q2_K": (80, 82),
    "Q3_K": (108,),
    "Q4_K": (0, 2),
    "Q5_K": (0, 2),
    "Q6_K": (208,),
    "IQ4_NL": (0,),
    "Q4_0": (0,),
    "Q4_1": (0, 2),
    "Q5_0": (0,),
    "Q5_1": (0, 2),
    "Q8_0": (0,),
}
VOCABULARY, LAYERS, HEAD = 8192, 16, 64


class ModelFile:
    """A GGUF file and what a token of it costs."""

    def __init__(self, path, label):
        self.path, self.label = pathlib.Path(path), label
        reader = gguf.GGUFReader(self.path)
        fields = reader.fields
        architecture = fields["general.architecture"].contents()

        def number(key, default=None):
            field = fields.get(f"{architecture}.{key}")
            if field is None and default is None:
                raise SystemExit(f"{self.path}: no {architecture}.{key}")
            value = field.contents() if field is not None else default
            return max(value) if isinstance(value, list) else value

        self.bytes = self.path.stat().st_size
        self.layers = number("block_count")
        self.heads = number("attention.head_count")
        self.kv_heads = number("attention.head_count_kv", self.heads)
        self.head_width = number("attention.key_length", number("embedding_length") // self.heads)
        tensors = {tensor.name: tensor for tensor in reader.tensors}
        in_layers = [t for name, t in tensors.items() if name.startswith("blk.") and len(t.shape) > 1]
        self.layer_parameters = sum(int(t.n_elements) for t in in_layers)
        # A head of its own: then one row of the embedding is all that is read of it.
        untied = "output.weight" in tensors and "token_embd.weight" in tensors
        self.token_bytes = self.bytes - (int(tensors["token_embd.weight"].n_bytes) if untied else 0)

    def prompt_operations(self):
        """Multiplications and additions of the layers' matrices, for one token."""
        return 2 * self.layer_parameters

    def attention_operations(self, tokens, before=0):
        """Scores and sums of values for `tokens` tokens behind `before` others, all layers."""
        seen = before + (tokens + 1) / 2
        return 4 * self.layers * self.heads * self.head_width * seen * tokens

    def cache_bytes(self, depth):
        """Keys and values in half precision that a token reads at this depth."""
        return 2 * self.layers * self.kv_heads * self.head_width * depth * 2


def requantized(owml, model, kind, folder, threads):
    """`model` in the tensor type or recipe `kind`; a file that is newer than the model is taken as it is."""
    path = folder / f"{pathlib.Path(model).stem}-as-{kind}.gguf"
    if path.exists() and path.stat().st_mtime >= pathlib.Path(model).stat().st_mtime:
        return path
    new = path.with_suffix(".incomplete.gguf")
    command = [owml, "quantize", str(model), str(new), kind, "--requantize", "--force", "--json"]
    done = subprocess.run(command + (["-t", str(threads)] if threads else []), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"'{' '.join(command)}' failed:\n{done.stderr[-2000:]}")
    json.loads(done.stdout)
    new.rename(path)
    return path


def random_bytes(random, kind, rows, columns):
    """A matrix of random blocks, small and finite; [rows, bytes]."""
    values, size = gguf.GGML_QUANT_SIZES[Type[kind]]
    if columns % values:
        raise SystemExit(f"rows of {columns} are no multiple of {kind}'s blocks of {values}")
    if kind in ("F16", "BF16", "F32"):
        data = (random.standard_normal((rows, columns), dtype=np.float32) / np.float32(columns**0.5)).astype(np.float32)
        return gguf.quants.quantize(data, Type[kind]).view(np.uint8).reshape(rows, -1)
    blocks = random.integers(0, 256, (rows * columns // values, size), dtype=np.uint8)
    if kind == "MXFP4":
        blocks[:, 0] = random.integers(118, 122, len(blocks), dtype=np.uint8)  # 2^-9 to 2^-6
    else:
        for place in HALF_SCALES[kind]:
            scales = random.uniform(0.5e-4, 2e-4, len(blocks)).astype(np.float16)
            blocks[:, place : place + 2] = scales.view(np.uint8).reshape(-1, 2)
    return blocks.reshape(rows, -1)


def random_llama(kind, width, folder):
    """A Llama whose rows have `width` weights, or three times as many; all matrices are of the type `kind`."""
    if width % 256:
        raise SystemExit(f"--random-rows {width}: a multiple of 256, since the K types have blocks of 256")
    path = folder / f"random-{width}-{kind}.gguf"
    if path.exists():
        return path
    random = np.random.default_rng(1)
    heads, kv_heads, hidden = width // HEAD, max(width // HEAD // 4, 1), 3 * width
    new = path.with_suffix(".incomplete.gguf")
    writer = gguf.GGUFWriter(new, "llama")
    writer.add_block_count(LAYERS)
    writer.add_context_length(16384)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(hidden)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_rope_dimension_count(HEAD)
    writer.add_layer_norm_rms_eps(1e-5)
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    kinds = [2, 3, 3, *[6] * 256]
    filler = VOCABULARY - len(tokens)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens + [f"\u2581word{i}" for i in range(filler)])
    writer.add_token_scores([0.0] * len(tokens) + [-float(i) for i in range(filler)])
    writer.add_token_types(kinds + [1] * filler)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)

    def matrix(name, rows, columns):
        writer.add_tensor(name, random_bytes(random, kind, rows, columns), raw_dtype=Type[kind])

    def norm(name):
        writer.add_tensor(name, np.ones(width, np.float32))

    matrix("token_embd.weight", VOCABULARY, width)
    norm("output_norm.weight")
    for i in range(LAYERS):
        norm(f"blk.{i}.attn_norm.weight")
        norm(f"blk.{i}.ffn_norm.weight")
        matrix(f"blk.{i}.attn_q.weight", heads * HEAD, width)
        matrix(f"blk.{i}.attn_k.weight", kv_heads * HEAD, width)
        matrix(f"blk.{i}.attn_v.weight", kv_heads * HEAD, width)
        matrix(f"blk.{i}.attn_output.weight", width, heads * HEAD)
        matrix(f"blk.{i}.ffn_gate.weight", hidden, width)
        matrix(f"blk.{i}.ffn_up.weight", hidden, width)
        matrix(f"blk.{i}.ffn_down.weight", width, hidden)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    new.rename(path)
    return path
