# The backend tests that the onnx package carries or generates, as models with raw tensor bytes.
# Read by run_backend_tests.py.
"""Backend test cases of the onnx package."""

import pathlib
import warnings
from dataclasses import dataclass
from typing import Any, Iterator, List, Optional, Tuple

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

FAMILIES = ("node", "simple", "pytorch-operator", "pytorch-converted")


@dataclass(frozen=True)
class RawTensor:
    """A tensor as both sides take it: ONNX element type, shape, bytes (four-bit elements packed)."""

    element_type: int
    shape: Tuple[int, ...]
    data: bytes

    def to_array(self) -> Any:
        proto = TensorProto(data_type=self.element_type, dims=self.shape, raw_data=self.data)
        return numpy_helper.to_array(proto)


def raw_tensor(value: Any) -> RawTensor:
    """From what a test case holds: a numpy array, a numpy scalar or a TensorProto."""
    array = numpy_helper.to_array(value) if isinstance(value, TensorProto) else np.asarray(value)
    proto = numpy_helper.from_array(array)
    return RawTensor(proto.data_type, tuple(proto.dims), proto.raw_data)


class Case:
    """One model with its data sets."""

    def __init__(self, family: str, found: Any) -> None:
        self.family = family
        self.name: str = found.name
        self.rtol: float = found.rtol
        self.atol: float = found.atol
        self._found = found
        self.model: onnx.ModelProto = found.model or onnx.load(str(self._folder / "model.onnx"))

    @property
    def _folder(self) -> pathlib.Path:
        return pathlib.Path(self._found.model_dir)

    def foreign_ports(self) -> List[Tuple[str, str]]:
        """Inputs and outputs that are no dense tensor of an ABI type, as (name as a sentence has it, kind)."""
        given = {one.name for one in self.model.graph.initializer}
        inputs = [one for one in self.model.graph.input if one.name not in given]
        found = []
        for direction, ports in (("input", inputs), ("output", self.model.graph.output)):
            for index, port in enumerate(ports):
                kind = _foreign_kind(port.type)
                if kind:
                    found.append((f"{direction} {index} '{port.name}'", kind))
        return found

    def data_sets(self) -> Iterator[Tuple[List[Tuple[str, RawTensor]], List[RawTensor]]]:
        """Named inputs and expected outputs of each data set."""
        names = [one.name for one in self.model.graph.input]
        for inputs, outputs in self._found.data_sets or self._stored_sets():
            if len(inputs) < len(names):  # the rest are initializers listed as inputs
                given = {one.name for one in self.model.graph.initializer}
                names = [name for name in names if name not in given]
            yield list(zip(names, map(raw_tensor, inputs))), list(map(raw_tensor, outputs))

    def _stored_sets(self) -> Iterator[Tuple[List[Any], List[Any]]]:
        for folder in sorted(self._folder.glob("test_data_set_*")):
            yield _stored(folder, "input"), _stored(folder, "output")


def _stored(folder: pathlib.Path, prefix: str) -> List[Any]:
    count = len(list(folder.glob(prefix + "_*.pb")))
    return [onnx.load_tensor(str(folder / f"{prefix}_{index}.pb")) for index in range(count)]


_ABI_NAMES = "FLOAT FLOAT16 BFLOAT16 DOUBLE INT8 UINT8 INT16 UINT16 INT32 UINT32 INT64 UINT64 BOOL INT4 UINT4"
ABI_TYPES = {getattr(TensorProto, name) for name in _ABI_NAMES.split()}


def _foreign_kind(declared: onnx.TypeProto) -> Optional[str]:
    which = declared.WhichOneof("value")
    if which != "tensor_type":
        return str(which).replace("_type", "").replace("_", " ")
    if declared.tensor_type.elem_type in ABI_TYPES:
        return None
    return "tensor of " + TensorProto.DataType.Name(declared.tensor_type.elem_type).lower()


def all_cases() -> Iterator[Case]:
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # casts that overflow on purpose
        for family in FAMILIES:
            for found in load_model_tests(kind=family):
                yield Case(family, found)
