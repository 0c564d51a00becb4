# Tensors through the library: bytes in, bytes out, borrowed buffers, regions.
# Run by pytest against the built libraries.
"""Tensors hold what they are given."""

import gc

import pytest
from openwinml.runtime import (
    ClosedError,
    NotSupportedError,
    Runtime,
    TensorAccessMode,
    TensorDataType,
    WinMLError,
)

np = pytest.importorskip("numpy")

F32 = TensorDataType.FLOAT32


@pytest.mark.parametrize(
    "name",
    ["float32", "float16", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"],
)
def test_array_survives_the_way_through_a_tensor(runtime, name):
    array = (np.arange(24).reshape(2, 3, 4) % 2).astype(name)
    with runtime.tensor_from_numpy(array) as tensor:
        assert tensor.desc() == (TensorDataType[name.upper()], (2, 3, 4))
        back = tensor.to_numpy()
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize("name", ["bfloat16", "int4", "uint4"])
def test_types_that_numpy_lacks_go_through_ml_dtypes(runtime, name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.array([[1, 2, 3], [4, 5, 6]]).astype(getattr(ml_dtypes, name))
    with runtime.tensor_from_numpy(array) as tensor:
        assert tensor.desc() == (TensorDataType[name.upper()], (2, 3))
        np.testing.assert_array_equal(tensor.to_numpy(), array)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 1, 1, 1)])
def test_scalars_and_empty_tensors(runtime, shape):
    array = np.ones(shape, np.int64)
    with runtime.tensor_from_numpy(array) as tensor:
        assert tensor.desc() == (TensorDataType.INT64, shape)
        np.testing.assert_array_equal(tensor.to_numpy(), array)


def test_array_is_copied_in_and_out(runtime):
    array = np.zeros(4, np.float32)
    with runtime.tensor_from_numpy(array) as tensor:
        array[:] = 1
        back = tensor.to_numpy()
        back[:] = 2
        assert not tensor.to_numpy().any()


def test_anything_but_an_array_is_refused(runtime):
    for wrong in ([1, 2], "text", 5, None):
        with pytest.raises(TypeError):
            runtime.tensor_from_numpy(wrong)


def test_tensor_without_data_is_zero(runtime, cpu):
    with runtime.create_tensor(TensorDataType.INT32, (2, 2), target=cpu) as tensor:
        assert tensor.to_numpy().tolist() == [[0, 0], [0, 0]]


def test_tensor_takes_bytes(runtime):
    for data in (bytes(range(8)), bytearray(range(8)), memoryview(bytes(range(8)))):
        with runtime.create_tensor(TensorDataType.UINT8, [2, 4], data) as tensor:
            assert tensor.to_numpy().tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]


@pytest.mark.parametrize(
    "arguments, error",
    [
        ((F32, (2,), b"1234567"), ValueError),
        ((F32, (-1,)), ValueError),
        ((F32, (1 << 64,)), ValueError),
        ((TensorDataType.UNDEFINED, (1,)), ValueError),
        ((77, (1,)), ValueError),
        (("float32", (1,)), TypeError),
        ((F32, "12"), TypeError),
        ((F32, 4), TypeError),
        ((F32, (1.5,)), TypeError),
        ((F32, (2,), "text"), TypeError),
        ((F32, (1 << 40, 1 << 40)), ValueError),
    ],
)
def test_wrong_arguments_are_refused_before_the_library_sees_them(runtime, arguments, error):
    with pytest.raises(error) as caught:
        runtime.create_tensor(*arguments)
    assert not isinstance(caught.value, WinMLError)


def test_target_must_be_a_target(runtime):
    with pytest.raises(TypeError, match="target must be an ExecutionTarget"):
        runtime.create_tensor(F32, (1,), target="cpu")


def test_fill_writes_every_element(runtime):
    with runtime.create_tensor(TensorDataType.INT16, (3,)) as tensor:
        tensor.fill(-7)
        assert tensor.to_numpy().tolist() == [-7, -7, -7]
        with pytest.raises(ValueError):
            tensor.fill(1 << 15)
        with pytest.raises(TypeError):
            tensor.fill(1.5)


def test_fill_of_packed_elements_is_refused_by_the_library(runtime):
    with runtime.create_tensor(TensorDataType.INT4, (2,)) as tensor, pytest.raises(WinMLError) as caught:
        tensor.fill(1)
    assert caught.value.hresult == 0x80070057


def test_copy_from_takes_the_bytes_of_another_tensor(runtime):
    with (
        runtime.tensor_from_numpy(np.arange(6, dtype=np.float32)) as source,
        runtime.create_tensor(F32, (2, 3)) as target,
    ):
        target.copy_from(source)
        assert target.to_numpy().ravel().tolist() == [0, 1, 2, 3, 4, 5]
    with runtime.create_tensor(F32, (5,)) as other, runtime.create_tensor(F32, (6,)) as target:
        with pytest.raises(WinMLError) as caught:
            target.copy_from(other)
        assert caught.value.hresult == 0x80070057
        with pytest.raises(TypeError, match="source must be a Tensor"):
            target.copy_from(np.zeros(6))


def test_region_copies_a_box(runtime, cpu):
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    with runtime.tensor_from_numpy(array) as tensor:
        with tensor.region((0, 1, 1), (2, 2, 2)) as region:
            np.testing.assert_array_equal(region.to_numpy(), array[:, 1:3, 1:3])
        with runtime.tensor_region(tensor, (1, 0, 0), (1, 3, 4), target=cpu) as region:
            np.testing.assert_array_equal(region.to_numpy(), array[1:])
        with pytest.raises(WinMLError) as caught:
            tensor.region((0, 0, 0), (3, 3, 4))
        assert caught.value.hresult == 0x80070057
        with pytest.raises(ValueError):
            tensor.region((0, 0), (1, 1, 1))


def test_borrowed_buffer_is_the_tensor(runtime):
    storage = bytearray(np.arange(4, dtype=np.float32).tobytes())
    with runtime.tensor_from_buffer(storage, F32, (4,), access=TensorAccessMode.READWRITE) as tensor:
        storage[:4] = np.float32(9).tobytes()
        assert tensor.to_numpy().tolist() == [9, 1, 2, 3]
        tensor.fill(5)
        assert np.frombuffer(storage, np.float32).tolist() == [5, 5, 5, 5]
        with pytest.raises(BufferError):
            storage.append(0)
    storage.append(0)


def test_numpy_memory_can_be_borrowed(runtime):
    array = np.zeros((2, 2), np.float32)
    with runtime.tensor_from_buffer(array, F32, (2, 2), access=TensorAccessMode.READWRITE) as tensor:
        tensor.fill(3)
    assert (array == 3).all()


def test_read_only_view_refuses_writing(runtime):
    data = np.arange(3, dtype=np.float32).tobytes()
    with runtime.tensor_from_buffer(data, F32, (3,), access=TensorAccessMode.READ) as tensor:
        assert tensor.to_numpy().tolist() == [0, 1, 2]
        with pytest.raises(WinMLError) as caught:
            tensor.fill(1)
        assert caught.value.hresult == 0x80070005 and caught.value.native_message
    assert data == np.arange(3, dtype=np.float32).tobytes()


def test_buffer_is_copied_by_default(runtime):
    storage = bytearray(8)
    with runtime.tensor_from_buffer(storage, F32, (2,)) as tensor:
        storage.append(0)
        tensor.fill(1)
    assert not any(storage)


def test_buffer_that_does_not_fit_is_refused_and_given_back(runtime):
    storage = bytearray(8)
    for access in TensorAccessMode:
        with pytest.raises(ValueError, match="buffer has 8 bytes; FLOAT32 .3,. needs 12"):
            runtime.tensor_from_buffer(storage, F32, (3,), access=access)
    storage.append(0)
    with pytest.raises(TypeError, match="writable"):
        runtime.tensor_from_buffer(b"12345678", F32, (2,), access=TensorAccessMode.READWRITE)


def test_borrowed_buffer_stays_exported_while_a_stage_holds_the_tensor(runtime, doubling_model):
    pytest.importorskip("onnx")
    storage = bytearray(np.arange(4, dtype=np.float32).tobytes())
    with runtime.load_model(doubling_model) as model:
        builder = runtime.create_pipeline_builder()
        stage = builder.add_model_stage(model)
        stage.request_output(0)
        with builder.build() as pipeline:
            tensor = runtime.tensor_from_buffer(storage, F32, (1, 4), access=TensorAccessMode.READ)
            stage.bind_input(0, tensor)
            tensor.close()
            with pytest.raises(BufferError):
                storage.append(0)
            pipeline.run()
            with stage.output(0) as output:
                assert output.to_numpy().ravel().tolist() == [0, 2, 4, 6]
            stage.bind_input(0, None)
            storage.append(0)
        stage.close()
        builder.close()


def test_closed_tensor_is_refused_everywhere(runtime):
    tensor = runtime.create_tensor(F32, (2,))
    tensor.close()
    tensor.close()
    with runtime.create_tensor(F32, (2,)) as other:
        for use in (
            tensor.desc,
            tensor.to_numpy,
            lambda: tensor.fill(1),
            lambda: tensor.region((0,), (1,)),
            lambda: other.copy_from(tensor),
            tensor.__enter__,
            tensor.token_ids,
        ):
            with pytest.raises(ClosedError, match="this Tensor is closed") as caught:
                use()
            assert caught.value.hresult == 0x80000013


def test_tensor_outlives_its_runtime():
    runtime = Runtime()
    tensor = runtime.tensor_from_numpy(np.arange(4))
    runtime.close()
    assert tensor.region((1,), (2,)).to_numpy().tolist() == [1, 2]
    with pytest.raises(ClosedError):
        runtime.create_tensor(F32, (1,))
    tensor.close()


def test_what_a_cpu_tensor_lacks_is_not_supported(runtime):
    with runtime.create_tensor(F32, (2,)) as tensor, pytest.raises(NotSupportedError) as caught:
        tensor.d3d12_buffer()
    assert caught.value.hresult == 0x80004002 and "IWinMLD3D12Tensor" in str(caught.value)


def test_device_memory_is_not_supported_here(runtime, cpu):
    with pytest.raises(WinMLError):
        runtime.create_target_from_d3d12(cpu)
    with pytest.raises(TypeError, match="adapter must be an interface pointer"):
        runtime.create_target_from_adapter("adapter")
    with pytest.raises(ValueError, match="null"):
        runtime.create_target_from_adapter(0)


def test_dropped_tensors_leave_nothing_behind(runtime):
    from openwinml._native import library

    before = library.live_object_count()
    for _ in range(100):
        runtime.tensor_from_numpy(np.zeros(16)).region((0,), (4,))
    gc.collect()
    # the runtime keeps one CPU target and one factory for calls without a target
    assert library.live_object_count() <= before + 2
