# ONNX Runtime's own Python API as the oracle: loads, runs, gives raw bytes.
# Called by run_backend_tests.py.
"""One model in ONNX Runtime, without OpenWinML."""

import ctypes
import re
from typing import List, Tuple

import numpy as np
import onnxruntime

from cases import RawTensor

onnxruntime.set_default_logger_severity(4)


class OracleFailure(Exception):
    """ONNX Runtime itself does not load or run the model; the text is the kind of reason."""


class Oracle:
    def __init__(self, model: bytes) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        try:
            self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise OracleFailure(_reason(error)) from error
        self.inputs = [one.name for one in self._session.get_inputs()]
        self.outputs = [one.name for one in self._session.get_outputs()]

    def run(self, inputs: List[Tuple[str, RawTensor]]) -> List[RawTensor]:
        feeds = {name: _to_value(tensor) for name, tensor in inputs if name in self.inputs}
        try:
            return [_from_value(value) for value in self._session.run_with_ort_values(self.outputs, feeds)]
        except Exception as error:
            raise OracleFailure("its run fails") from error


def _to_value(tensor: RawTensor) -> onnxruntime.OrtValue:
    # By element type and bytes: numpy has no name for some of the types.
    value = onnxruntime.OrtValue.ortvalue_from_shape_and_type(list(tensor.shape), tensor.element_type)
    if tensor.data:
        ctypes.memmove(value.data_ptr(), tensor.data, len(tensor.data))
    return value


def _from_value(value: onnxruntime.OrtValue) -> RawTensor:
    size = value.tensor_size_in_bytes()
    data = ctypes.string_at(value.data_ptr(), size) if size else b""
    return RawTensor(value.element_type(), tuple(value.shape()), data)


def _reason(error: Exception) -> str:
    text = str(error)
    if "NOT_IMPLEMENTED" in text:
        return "it has no CPU kernel"
    if re.search(r"opset \d+ is under development|Current official support", text):
        return "the operator set is too new for it"
    if "is not a registered function/op" in text or "No Op registered" in text:
        return "it does not know the operator"
    if "Unsupported model IR version" in text:
        return "the IR version is too new for it"
    if "INVALID_GRAPH" in text or "ShapeInferenceError" in text or "Type Error" in text:
        return "it calls the graph invalid"
    return "it does not load the model"


def close(actual: RawTensor, expected: RawTensor, rtol: float, atol: float) -> bool:
    """Equality as the onnx package's own runner defines it."""
    if actual.element_type != expected.element_type or actual.shape != expected.shape:
        return False
    left, right = actual.to_array(), expected.to_array()
    if left.dtype.kind in "biu" or "int" in left.dtype.name:
        return bool(np.array_equal(left, right))
    return bool(np.allclose(left.astype(np.float64), right.astype(np.float64), rtol, atol, equal_nan=True))


def same_bits(left: RawTensor, right: RawTensor) -> bool:
    """Bit for bit; only NaNs may differ in their payload."""
    if (left.element_type, left.shape) != (right.element_type, right.shape):
        return False
    if left.data == right.data:
        return True
    ours, theirs = left.to_array(), right.to_array()
    if ours.dtype.kind in "biu" or "int" in ours.dtype.name:
        return False
    both_nan = np.isnan(ours.astype(np.float64)) & np.isnan(theirs.astype(np.float64))
    unsigned = np.dtype(f"u{ours.dtype.itemsize}")
    return bool(np.all(both_nan | (ours.view(unsigned) == theirs.view(unsigned))))
