# Borrowing the memory of bytes-like objects.
# Run by pytest; needs no library.
"""Buffers are borrowed without a copy and given back."""

import array
import mmap

import pytest
from openwinml._native.buffers import ExportedBuffer


def test_writable_buffer_is_exported_until_released():
    data = bytearray(b"abcd")
    borrowed = ExportedBuffer(data, "data", writable=True)
    assert borrowed.size == 4
    with pytest.raises(BufferError):
        data.append(1)
    borrowed.release()
    borrowed.release()
    data.append(1)


@pytest.mark.parametrize("source", [b"abc", bytearray(b"abc"), memoryview(b"abc"), array.array("B", [1, 2, 3])])
def test_any_bytes_like_object_is_read(source):
    with ExportedBuffer(source, "data") as borrowed:
        assert borrowed.size == 3 and borrowed.address


def test_size_counts_bytes_not_elements():
    with ExportedBuffer(array.array("d", [1, 2]), "data") as borrowed:
        assert borrowed.size == 16


def test_memory_maps_are_taken(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(b"x" * 4096)
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        with ExportedBuffer(mapped, "data") as borrowed:
            assert borrowed.size == 4096
        with pytest.raises(TypeError, match="writable"):
            ExportedBuffer(mapped, "data", writable=True)


@pytest.mark.parametrize("source", ["text", 5, None, [1, 2], memoryview(bytearray(8))[::2]])
def test_what_is_no_contiguous_buffer_is_refused_by_name(source):
    with pytest.raises(TypeError, match="data must be a contiguous"):
        ExportedBuffer(source, "data")


def test_read_only_buffer_is_refused_for_writing():
    with pytest.raises(TypeError, match="data must be a writable"):
        ExportedBuffer(b"abc", "data", writable=True)
