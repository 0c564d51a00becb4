# External data of a model from a mapping in memory.
# Run by pytest against the built libraries.
"""Resource maps written in Python."""

import pathlib

import pytest
from openwinml.runtime import WinMLError

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")


@pytest.fixture
def model_bytes(tmp_path):
    """A model y = x + w whose w of 256 floats lies in the external file `weights.bin`."""
    from onnx import TensorProto, helper, numpy_helper

    weights = numpy_helper.from_array(np.arange(256, dtype=np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        "test",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [256])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [256])],
        [weights],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path / "m.onnx"
    onnx.save(model, str(path), save_as_external_data=True, location="weights.bin", size_threshold=0)
    return path.read_bytes(), (tmp_path / "weights.bin").read_bytes(), path


def run(runtime, model):
    with runtime.create_pipeline_builder() as builder, builder.add_model_stage(model) as stage:
        stage.request_output(0)
        with builder.build() as pipeline, runtime.tensor_from_numpy(np.ones(256, np.float32)) as tensor:
            stage.bind_input(0, tensor)
            pipeline.run()
            with stage.output(0) as output:
                return output.to_numpy()


def test_model_in_memory_finds_its_weights_in_the_mapping(runtime, model_bytes):
    data, weights, _ = model_bytes
    storage = bytearray(weights)
    with runtime.load_model_from_buffer(data, resources={"weights.bin": storage}) as model:
        with pytest.raises(BufferError):
            storage.append(0)  # served in place
        assert run(runtime, model).tolist() == list(range(1, 257))
    storage.append(0)


def test_model_in_memory_without_its_weights_is_refused(runtime, model_bytes):
    data = model_bytes[0]
    for resources in (None, {}, {"other.bin": b"1234"}):
        with pytest.raises(WinMLError):
            with runtime.load_model_from_buffer(data, resources=resources) as model:
                run(runtime, model)


def test_file_finds_its_weights_on_disk(runtime, model_bytes):
    path = model_bytes[2]
    with runtime.load_model(path) as model:
        assert run(runtime, model)[255] == 256
    with runtime.load_model(str(path), resources={"weights.bin": bytes(1024)}) as model:
        assert run(runtime, model)[255] == 256  # the files beside the model come first


@pytest.mark.parametrize(
    "resources, error",
    [
        ([("weights.bin", b"")], TypeError),
        ("weights.bin", TypeError),
        ({5: b""}, TypeError),
        ({"": b""}, ValueError),
        ({"a\0": b""}, ValueError),
        ({"weights.bin": "text"}, TypeError),
        ({"weights.bin": None}, TypeError),
    ],
)
def test_mappings_that_cannot_be_are_refused(runtime, model_bytes, resources, error):
    with pytest.raises(error) as caught:
        runtime.load_model_from_buffer(model_bytes[0], resources=resources)
    assert not isinstance(caught.value, WinMLError)


def test_model_from_nothing_is_refused(runtime):
    with pytest.raises(WinMLError) as caught:
        runtime.load_model_from_buffer(b"")
    assert caught.value.hresult == 0x80070057
    for wrong in ("text", None, 5, pathlib.Path("x")):
        with pytest.raises(TypeError):
            runtime.load_model_from_buffer(wrong)
