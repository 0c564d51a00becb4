# Shared by the Python tests: skips when there is no library, counts native objects, writes small ONNX models.
# Run by pytest before each test file; ctest sets the environment, see CMakeLists.txt.
"""Fixtures of the tests of the Python package."""

import gc
import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEEDS_NO_LIBRARY = {
    "abi_test",
    "backend_test",
    "buffers_test",
    "conversation_request_test",
    "elements_test",
    "generation_records_test",
    "media_test",
    "package_test",
    "records_test",
    "wheel_test",
}


def library_is_there():
    folder = os.environ.get("OWML_LIBRARY_DIR", "")
    return bool(folder) and any(pathlib.Path(folder).glob("libwinml_runtime.so*"))


def pytest_collection_modifyitems(items):
    if library_is_there():
        return
    skip = pytest.mark.skip(reason="OWML_LIBRARY_DIR names no folder with libwinml_runtime.so")
    for item in items:
        if pathlib.Path(item.fspath).stem not in NEEDS_NO_LIBRARY:
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def no_native_object_is_left(request):
    """Every test ends with as many native objects as it began with."""
    if request.path.stem in NEEDS_NO_LIBRARY or not library_is_there():
        yield
        return
    from openwinml._native import library

    gc.collect()
    before = library.live_object_count()
    yield
    gc.collect()
    library.runtime().SetErrorInfo(0, None)  # the sentence of the last failure is an object too
    assert library.live_object_count() == before, "native objects are still alive"


@pytest.fixture
def runtime():
    from openwinml.runtime import Runtime

    with Runtime() as made:
        yield made


@pytest.fixture
def cpu(runtime):
    with runtime.create_cpu_target() as target:
        yield target


@pytest.fixture
def gguf():
    path = os.environ.get("OWML_TEST_GGUF", "")
    if not path:
        pytest.skip("OWML_TEST_GGUF names no model; run tools/bootstrap")
    return path


def write_model(path, nodes, inputs, outputs, initializers=()):
    """Writes an ONNX model; inputs and outputs are (name, element type, shape)."""
    from onnx import helper, save

    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info(*one) for one in inputs],
        [helper.make_tensor_value_info(*one) for one in outputs],
        list(initializers),
    )
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return str(path)


@pytest.fixture
def doubling_model(tmp_path):
    """y = x + x for a float32 x of shape [batch, 4]."""
    from onnx import TensorProto, helper

    node = helper.make_node("Add", ["x", "x"], ["y"])
    ends = [("x", TensorProto.FLOAT, ["batch", 4])], [("y", TensorProto.FLOAT, ["batch", 4])]
    return write_model(tmp_path / "doubling.onnx", [node], *ends)
