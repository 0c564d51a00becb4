# Element types between numpy, bytes and tensors.
# Run by pytest; needs numpy, no library.
"""Arrays become bytes and bytes become arrays."""

import struct
import sys

import pytest
from openwinml.runtime import TensorDataType as T
from openwinml.runtime import _elements as elements

np = pytest.importorskip("numpy")


def there_and_back(array):
    kind = elements.type_of_array(array)
    raw = elements.bytes_of_array(kind, array)
    assert raw.size == elements.byte_size(kind, array.shape)
    return kind, elements.array_of_bytes(kind, array.shape, raw.copy())


@pytest.mark.parametrize(
    "name",
    ["float32", "float16", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"],
)
def test_array_keeps_type_shape_and_values(name):
    array = (np.arange(24).reshape(2, 3, 4) % 2).astype(name)
    kind, back = there_and_back(array)
    assert kind == T[name.upper()] and back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_layout_and_byte_order_of_the_array_do_not_matter():
    array = np.arange(12, dtype=">i4").reshape(3, 4).T[::-1, ::2]
    _, back = there_and_back(array)
    assert back.dtype == np.int32
    np.testing.assert_array_equal(back, array.astype(np.int32))


def test_scalar_and_empty_arrays():
    assert there_and_back(np.array(7, np.int64))[1].shape == ()
    assert there_and_back(np.zeros((0, 3), np.float32))[1].shape == (0, 3)


def test_bfloat16_keeps_its_values():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    kind, back = there_and_back(np.array([1.5, -2.0, 3.0e38], ml_dtypes.bfloat16))
    assert kind == T.BFLOAT16 and back.astype(np.float32)[0] == 1.5


@pytest.mark.parametrize("name, values", [("int4", [-8, -1, 0, 7, 3]), ("uint4", [0, 15, 1, 8, 3])])
def test_four_bit_elements_are_packed_low_half_first(name, values):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.array(values).astype(getattr(ml_dtypes, name))
    kind, back = there_and_back(array)
    assert kind == T[name.upper()] and list(back.astype(int)) == values
    raw = elements.bytes_of_array(kind, array)
    assert list(raw) == [
        (values[0] & 15) | (values[1] & 15) << 4,
        (values[2] & 15) | (values[3] & 15) << 4,
        values[4] & 15,
    ]


def test_without_ml_dtypes_the_values_are_the_same(monkeypatch):
    monkeypatch.setattr(elements, "_extension_dtype", lambda name: None)
    raw = np.frombuffer(struct.pack("=HH", 0x3FC0, 0xC000), np.uint8)
    assert elements.array_of_bytes(T.BFLOAT16, (2,), raw).tolist() == [1.5, -2.0]
    packed = np.array([0x8F, 0x07], np.uint8)
    assert elements.array_of_bytes(T.INT4, (3,), packed).tolist() == [-1, -8, 7]
    assert elements.array_of_bytes(T.UINT4, (3,), packed).tolist() == [15, 8, 7]


def test_types_that_no_tensor_has_are_refused():
    for array in (np.array(["a"]), np.array([1 + 2j]), np.array([object()]), np.array([0], "datetime64[s]")):
        with pytest.raises(TypeError):
            elements.type_of_array(array)


@pytest.mark.parametrize(
    "kind, value, expected",
    [
        (T.FLOAT32, 2.5, struct.pack("=f", 2.5)),
        (T.FLOAT32, 2, struct.pack("=f", 2)),
        (T.FLOAT16, -1, struct.pack("=e", -1)),
        (T.INT8, -128, b"\x80"),
        (T.UINT64, (1 << 64) - 1, b"\xff" * 8),
        (T.BOOL, True, b"\1"),
        (T.BOOL, np.bool_(False), b"\0"),
        (T.INT32, np.int64(7), struct.pack("=i", 7)),
        (T.BFLOAT16, 1.5, struct.pack("=H", 0x3FC0)),
        (T.BFLOAT16, 1.00390625, struct.pack("=H", 0x3F80)),
        (T.FLOAT32, float("inf"), struct.pack("=f", float("inf"))),
    ],
)
def test_one_value_as_bytes(kind, value, expected):
    assert elements.bytes_of_value(kind, value) == expected


@pytest.mark.parametrize(
    "kind, value",
    [(T.INT8, 128), (T.UINT8, -1), (T.FLOAT16, 1e6), (T.FLOAT32, 1e39), (T.BFLOAT16, 3.4e38), (T.INT4, 8)],
)
def test_value_that_does_not_fit_is_refused(kind, value):
    with pytest.raises(ValueError, match=kind.name):
        elements.bytes_of_value(kind, value)


@pytest.mark.parametrize(
    "kind, value", [(T.INT32, 1.5), (T.FLOAT32, "1"), (T.BOOL, 1), (T.FLOAT32, None), (T.INT8, b"a")]
)
def test_value_of_the_wrong_kind_is_refused(kind, value):
    with pytest.raises(TypeError):
        elements.bytes_of_value(kind, value)


def test_byte_size_counts_halves_and_refuses_the_absurd():
    assert elements.byte_size(T.INT4, (3, 3)) == 5
    assert elements.byte_size(T.FLOAT32, ()) == 4
    assert elements.byte_size(T.FLOAT32, (0, 1 << 60)) == 0
    with pytest.raises(ValueError):
        elements.byte_size(T.FLOAT64, (1 << 62, 4))
    with pytest.raises(ValueError):
        elements.byte_size(T.UNDEFINED, (1,))


def test_package_needs_numpy_only_where_arrays_appear():
    import subprocess

    code = "import sys; sys.modules['numpy'] = None; import openwinml.runtime, openwinml.tasks"
    subprocess.run([sys.executable, "-c", code], check=True)
