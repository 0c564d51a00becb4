# Starts `owml` for the tests, and writes the small models that they look at.
# Run by pytest before each test file; ctest sets the environment, see CMakeLists.txt.
"""Fixtures of the tests of the command."""

import json
import os
import subprocess
from dataclasses import dataclass

import pytest

# A language model on a busy machine may take its time; a hanging command must still end the test.
PATIENCE_S = 180


@dataclass
class Outcome:
    code: int
    out: str
    err: str

    def json(self):
        return json.loads(self.out)

    def sentence(self):
        """The one sentence of a failure, without the name in front."""
        assert self.err.startswith("owml: "), self.err
        assert self.err.count("\n") == 1, self.err
        return self.err[len("owml: ") : -1]


def environment(**extra):
    """One thread: the tests share the processors with others, and spinning threads would wait for each other."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("OWML_")}
    return {**plain, "OWML_THREADS": "1", "OWML_PACKED_CACHE": "off", **extra}


def command():
    path = os.environ.get("OWML_TEST_COMMAND", "")
    if not path:
        pytest.skip("OWML_TEST_COMMAND names no owml")
    return path


@pytest.fixture
def owml():
    """Runs the command to its end: owml("inspect", path, stdin="...", env={...}, prefix=["taskset", ...])."""

    def run(*arguments, stdin="", env=None, prefix=()):
        done = subprocess.run(
            [*prefix, command(), *map(os.fsencode, map(os.fspath, map(_text, arguments)))],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            timeout=PATIENCE_S,
            env=environment(**(env or {})),
            check=False,
        )
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


def _text(argument):
    return argument if isinstance(argument, (str, bytes, os.PathLike)) else str(argument)


@pytest.fixture(scope="session")
def gguf():
    path = os.environ.get("OWML_TEST_GGUF", "")
    if not path:
        pytest.skip("OWML_TEST_GGUF names no model; run tools/bootstrap")
    return path


def write_onnx(path, nodes, inputs, outputs, **options):
    """Writes an ONNX model; inputs and outputs are (name, element type, shape)."""
    from onnx import helper, save

    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info(*one) for one in inputs],
        [helper.make_tensor_value_info(*one) for one in outputs],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10, **options)
    save(model, str(path))
    return str(path)


@pytest.fixture
def mixing_model(tmp_path):
    """y = matmul(x, w) for x of shape [batch, 3] and w of shape [3, ?]."""
    from onnx import TensorProto, helper

    return write_onnx(
        tmp_path / "mixing.onnx",
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        [("x", TensorProto.FLOAT, ["batch", 3]), ("w", TensorProto.FLOAT, [3, None])],
        [("y", TensorProto.FLOAT, ["batch", None])],
        producer_name="tests",
    )


@pytest.fixture
def identity_model(tmp_path):
    """Makes a model y = x for one element type."""
    from onnx import TensorProto, helper

    def make(onnx_type, shape=("n",)):
        kind = getattr(TensorProto, onnx_type)
        nodes = [helper.make_node("Identity", ["x"], ["y"])]
        if onnx_type in ("INT4", "UINT4"):  # ONNX Runtime knows four bits in casts only
            nodes = [
                helper.make_node("Cast", ["x"], ["wide"], to=TensorProto.FLOAT),
                helper.make_node("Cast", ["wide"], ["y"], to=kind),
            ]
        return write_onnx(tmp_path / f"{onnx_type}.onnx", nodes, [("x", kind, list(shape))], [("y", kind, list(shape))])

    return make
