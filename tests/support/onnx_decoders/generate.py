"""Writes a decoder of two layers with random weights in each of the published ONNX layouts.

The weights depend on the seed alone, so that every layout computes the same function and can be compared with the others.
Called by CMake for the tests; needs the packages onnx and numpy.

    generate.py FOLDER

writes FOLDER/float32 and FOLDER/float16, each with
    model.onnx                          unified: input_ids [seq], past_seq_len, one cache pair a tensor
    emb.onnx, decoder.onnx, head.onnx   split: one token a run, position and mask from the caller
    task_model.onnx, task_decode.onnx   one packed state tensor; the second takes one token a run
    model_free.onnx                     unified with an open capacity, named like at the output
    growing.onnx                        unified with caches that grow by the tokens of each run
"""

import argparse
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LAYERS = 2
HEADS = 4
KV_HEADS = 2
HEAD_SIZE = 8
HIDDEN = HEADS * HEAD_SIZE
CAPACITY = 32
VOCABULARY = 50
SEED = 20240229

ELEMENT = {"float32": (TensorProto.FLOAT, np.float32), "float16": (TensorProto.FLOAT16, np.float16)}


class Graph:
    """Nodes and initializers of one file; `add` returns the name of a node's first output."""

    def __init__(self, element):
        self.onnx_type, self.numpy_type = ELEMENT[element]
        self.nodes, self.initializers, self.inputs, self.outputs = [], [], [], []
        self.count = 0

    def name(self, stem):
        self.count += 1
        return f"{stem}_{self.count}"

    def constant(self, values, dtype=np.int64):
        name = self.name("constant")
        self.initializers.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def weight(self, weights, name):
        if not any(known.name == name for known in self.initializers):
            self.initializers.append(numpy_helper.from_array(weights[name].astype(self.numpy_type), name))
        return name

    def add(self, operator, *inputs, output=None, **attributes):
        output = output or self.name(operator.lower())
        self.nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def input(self, name, onnx_type, shape):
        self.inputs.append(helper.make_tensor_value_info(name, onnx_type, shape))
        return name

    def output(self, name, onnx_type, shape):
        self.outputs.append(helper.make_tensor_value_info(name, onnx_type, shape))

    def save(self, path):
        graph = helper.make_graph(self.nodes, path.stem, self.inputs, self.outputs, self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, str(path))


def random_weights():
    random = np.random.default_rng(SEED)

    def matrix(*shape):
        return (random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)

    weights = {"embedding": matrix(VOCABULARY, HIDDEN) * 4, "position": matrix(CAPACITY * 4, HIDDEN) * 4}
    for layer in range(LAYERS):
        weights[f"query.{layer}"] = matrix(HIDDEN, HEADS * HEAD_SIZE)
        weights[f"key.{layer}"] = matrix(HIDDEN, KV_HEADS * HEAD_SIZE)
        weights[f"value.{layer}"] = matrix(HIDDEN, KV_HEADS * HEAD_SIZE)
        weights[f"projection.{layer}"] = matrix(HEADS * HEAD_SIZE, HIDDEN)
        weights[f"up.{layer}"] = matrix(HIDDEN, 2 * HIDDEN)
        weights[f"down.{layer}"] = matrix(2 * HIDDEN, HIDDEN)
    weights["head"] = matrix(HIDDEN, VOCABULARY)
    return weights


WEIGHTS = random_weights()


def heads(graph, hidden, layer, name, count):
    """[1, n, hidden] -> [1, count, n, head size]"""
    flat = graph.add("MatMul", hidden, graph.weight(WEIGHTS, f"{name}.{layer}"))
    return graph.add("Transpose", graph.add("Reshape", flat, graph.constant([1, -1, count, HEAD_SIZE])), perm=[0, 2, 1, 3])


def write_rows(graph, cache, rows, positions):
    """Puts rows [1, kv, n, d] into cache [1, kv, s, d] at the given positions [n]."""
    column = graph.add("Reshape", positions, graph.constant([1, 1, -1, 1]))
    return graph.add("ScatterElements", cache, graph.add("Expand", column, graph.add("Shape", rows)), rows, axis=2)


def append_rows(graph, cache, rows, _positions):
    return graph.add("Concat", cache, rows, axis=2)


def per_query_head(graph, cache):
    """[1, kv, s, d] -> [1, heads, s, d]"""
    group = HEADS // KV_HEADS
    wide = graph.add("Concat", *[graph.add("Unsqueeze", cache, graph.constant([2]))] * group, axis=2)
    rows = graph.add("Shape", cache, start=2, end=3)
    return graph.add("Reshape", wide, graph.add("Concat", graph.constant([1, HEADS]), rows, graph.constant([HEAD_SIZE]), axis=0))


def causal_mask(graph, positions, cache):
    """0 for rows up to each position, else the least value: [n, s]"""
    rows = graph.add("Shape", cache, start=2, end=3)
    row = graph.add("Range", graph.constant(0), graph.add("Squeeze", rows), graph.constant(1))
    seen = graph.add("LessOrEqual", graph.add("Unsqueeze", row, graph.constant([0])), graph.add("Unsqueeze", positions, graph.constant([1])))
    return graph.add("Where", seen, graph.constant(0, graph.numpy_type), graph.constant(np.finfo(np.float16).min, graph.numpy_type))


def layer_body(graph, hidden, layer, caches, positions, mask, store):
    """`caches` is (key, value); `mask` a function of the written cache. Returns hidden and the written caches."""
    query = heads(graph, hidden, layer, "query", HEADS)
    key = store(graph, caches[0], heads(graph, hidden, layer, "key", KV_HEADS), positions)
    value = store(graph, caches[1], heads(graph, hidden, layer, "value", KV_HEADS), positions)
    scores = graph.add("MatMul", query, graph.add("Transpose", per_query_head(graph, key), perm=[0, 1, 3, 2]))
    scaled = graph.add("Mul", scores, graph.constant(HEAD_SIZE**-0.5, graph.numpy_type))
    shares = graph.add("Softmax", graph.add("Add", scaled, mask(key)), axis=-1)
    mixed = graph.add("Transpose", graph.add("MatMul", shares, per_query_head(graph, value)), perm=[0, 2, 1, 3])
    mixed = graph.add("Reshape", mixed, graph.constant([1, -1, HIDDEN]))
    hidden = graph.add("Add", hidden, graph.add("MatMul", mixed, graph.weight(WEIGHTS, f"projection.{layer}")))
    up = graph.add("Relu", graph.add("MatMul", hidden, graph.weight(WEIGHTS, f"up.{layer}")))
    hidden = graph.add("Add", hidden, graph.add("MatMul", up, graph.weight(WEIGHTS, f"down.{layer}")))
    return graph.add("Tanh", hidden), (key, value)


def embed(graph, ids, output=None):
    """ids [n] -> [1, n, hidden]"""
    rows = graph.add("Gather", graph.weight(WEIGHTS, "embedding"), ids)
    return graph.add("Reshape", rows, graph.constant([1, -1, HIDDEN]), output=output)


def add_position(graph, hidden, positions):
    rows = graph.add("Gather", graph.weight(WEIGHTS, "position"), positions)
    return graph.add("Add", hidden, graph.add("Unsqueeze", rows, graph.constant([0])))


def following(graph, first, count):
    """first [1], count [1] -> first, first + 1, ... [count]"""
    return graph.add("Add", graph.add("Range", graph.constant(0), graph.add("Squeeze", count), graph.constant(1)), first)


def cache_names(stem):
    return [f"{stem}.{layer}.{half}" for layer in range(LAYERS) for half in ("key", "value")]


def unified(element, in_rows, out_rows, store):
    graph = Graph(element)
    ids = graph.input("input_ids", TensorProto.INT64, ["seq"])
    past = graph.input("past_seq_len", TensorProto.INT32, [1, 1])
    caches = [graph.input(name, graph.onnx_type, [1, KV_HEADS, in_rows, HEAD_SIZE]) for name in cache_names("past_key_values")]
    first = graph.add("Reshape", graph.add("Cast", past, to=TensorProto.INT64), graph.constant([1]))
    positions = following(graph, first, graph.add("Shape", ids))
    hidden = add_position(graph, embed(graph, ids), positions)
    graph.output("logits", graph.onnx_type, [1, "seq", VOCABULARY])
    for layer in range(LAYERS):
        hidden, written = layer_body(graph, hidden, layer, caches[2 * layer : 2 * layer + 2], positions,
                                     lambda cache: causal_mask(graph, positions, cache), store)
        for half, name in zip(written, cache_names("present")[2 * layer : 2 * layer + 2]):
            graph.add("Identity", half, output=name)
            graph.output(name, graph.onnx_type, [1, KV_HEADS, out_rows, HEAD_SIZE])
    graph.add("MatMul", hidden, graph.weight(WEIGHTS, "head"), output="logits")
    return graph


def split_embedding(element):
    graph = Graph(element)
    ids = graph.input("input_ids", TensorProto.INT64, [1, 1])
    embed(graph, ids, output="hidden_state")
    graph.output("hidden_state", graph.onnx_type, [1, 1, HIDDEN])
    return graph


def split_decoder(element):
    graph = Graph(element)
    hidden = graph.input("hidden_state", graph.onnx_type, [1, 1, HIDDEN])
    position = graph.input("position_id", TensorProto.INT64, [1])
    mask = graph.input("attention_mask", graph.onnx_type, [1, 1, 1, CAPACITY])
    caches = [graph.input(name, graph.onnx_type, [1, KV_HEADS, CAPACITY, HEAD_SIZE]) for name in cache_names("past_key_values")]
    hidden = add_position(graph, hidden, position)
    graph.output("hidden_out", graph.onnx_type, [1, 1, HIDDEN])
    for layer in range(LAYERS):
        hidden, written = layer_body(graph, hidden, layer, caches[2 * layer : 2 * layer + 2], position, lambda _: mask, write_rows)
        for half, name in zip(written, cache_names("present")[2 * layer : 2 * layer + 2]):
            graph.add("Identity", half, output=name)
            graph.output(name, graph.onnx_type, [1, KV_HEADS, CAPACITY, HEAD_SIZE])
    graph.add("Identity", hidden, output="hidden_out")
    return graph


def split_head(element):
    graph = Graph(element)
    graph.add("MatMul", graph.input("hidden_state", graph.onnx_type, [1, 1, HIDDEN]), graph.weight(WEIGHTS, "head"), output="logits")
    graph.output("logits", graph.onnx_type, [1, 1, VOCABULARY])
    return graph


def packed(element, length):
    """State: for each layer the key then the value channels; row 0 of the last channel begins with the position in four bytes."""
    graph = Graph(element)
    channels = 2 * LAYERS * KV_HEADS + 1
    ids = graph.input("input_ids", TensorProto.INT64, [1, length])
    state = graph.input("task_state", graph.onnx_type, [1, channels, CAPACITY, HEAD_SIZE])
    radix = graph.constant([1, 256, 65536, 16777216])
    at = graph.add("Slice", state, graph.constant([channels - 1, 0, 0]), graph.constant([channels, 1, 4]), graph.constant([1, 2, 3]))
    digits = graph.add("Cast", graph.add("Reshape", at, graph.constant([4])), to=TensorProto.INT64)
    first = graph.add("ReduceSum", graph.add("Mul", digits, radix), keepdims=1)
    flat_ids = graph.add("Reshape", ids, graph.constant([-1]))
    count = graph.add("Shape", flat_ids)
    positions = following(graph, first, count)
    hidden = add_position(graph, embed(graph, flat_ids), positions)
    pieces = []
    for layer in range(LAYERS):
        caches = []
        for half in range(2):
            start = (2 * layer + half) * KV_HEADS
            caches.append(graph.add("Slice", state, graph.constant([start]), graph.constant([start + KV_HEADS]), graph.constant([1])))
        hidden, written = layer_body(graph, hidden, layer, caches, positions, lambda cache: causal_mask(graph, positions, cache), write_rows)
        pieces += written
    end = graph.add("Add", first, count)
    digits = graph.add("Mod", graph.add("Div", end, radix), graph.constant([256]))
    row = graph.add("Reshape", graph.add("Cast", digits, to=graph.onnx_type), graph.constant([1, 1, 1, 4]))
    pieces.append(graph.add("Pad", row, graph.constant([0, 0, 0, 0, 0, 0, CAPACITY - 1, HEAD_SIZE - 4])))
    logits = graph.add("MatMul", hidden, graph.weight(WEIGHTS, "head"))
    graph.add("Cast", logits, to=TensorProto.FLOAT, output="logits")
    graph.add("Concat", *pieces, axis=1, output="task_state_out")
    graph.output("logits", TensorProto.FLOAT, [1, length, VOCABULARY])
    graph.output("task_state_out", graph.onnx_type, [1, channels, CAPACITY, HEAD_SIZE])
    return graph


def write_all(folder):
    for element in ELEMENT:
        target = folder / element
        target.mkdir(parents=True, exist_ok=True)
        unified(element, CAPACITY, CAPACITY, write_rows).save(target / "model.onnx")
        unified(element, "capacity", "capacity", write_rows).save(target / "model_free.onnx")
        unified(element, "past", "total", append_rows).save(target / "growing.onnx")
        split_embedding(element).save(target / "emb.onnx")
        split_decoder(element).save(target / "decoder.onnx")
        split_head(element).save(target / "head.onnx")
        packed(element, "seq").save(target / "task_model.onnx")
        packed(element, 1).save(target / "task_decode.onnx")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Writes random decoders in every published ONNX layout.")
    parser.add_argument("folder", type=pathlib.Path)
    write_all(parser.parse_args().folder)
