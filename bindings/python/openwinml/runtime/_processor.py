# Processors: stages with fixed descriptors, native ones and ones written in Python.
# Added to a pipeline by PipelineBuilder.add_processor_stage.
"""Processor, RecordedProcessorOutputs and the native face of processors written in Python."""

from __future__ import annotations

import ctypes
from typing import Any, List, Optional, Protocol, Sequence, Tuple

from .. import _arguments as check
from .._native.com_object import ComObject, write
from .._native.errors import E_INVALIDARG, E_POINTER, E_UNEXPECTED, WinMLError, callback_state
from .._native.interfaces import POINTER_SIZE, struct
from .._native.reference import Reference
from .._native.wrapper import reference_of
from ._context import Context, ContextObject
from ._enums import TensorDataType
from ._model import Described
from ._records import TensorDesc
from ._tensor import Tensor, foreign_pointer, make_desc


class ProcessorLike(Protocol):
    """What add_processor_stage takes besides native processors; subclassing Processor is one way to be that.

    Both lists of descriptors are asked for once, when the stage is added, and must be concrete. execute() gets one
    tensor for each input and returns one for each output; its exceptions reach the caller of Pipeline.run() as the
    cause of the WinMLError raised there.
    """

    def inputs(self) -> Sequence[TensorDesc]: ...

    def outputs(self) -> Sequence[TensorDesc]: ...

    def execute(self, inputs: Sequence[Tensor]) -> Sequence[Tensor]: ...


class Processor(Described, ContextObject):
    """A stage's computation with a fixed schema.

    Runtime makes the native ones. An application writes its own by subclassing this and defining inputs(), outputs()
    and execute(); such an object has no native side until it is added to a pipeline.
    """

    def __init__(self) -> None:
        if type(self) is Processor:
            raise TypeError("subclass Processor and define inputs(), outputs() and execute(), or ask Runtime for one")

    @property
    def input_count(self) -> int:
        return super().input_count if self._is_native else len(self.inputs())

    @property
    def output_count(self) -> int:
        return super().output_count if self._is_native else len(self.outputs())

    def input_desc(self, index: int) -> TensorDesc:
        return super().input_desc(index) if self._is_native else self.inputs()[check.unsigned(index, "index")]

    def output_desc(self, index: int) -> TensorDesc:
        return super().output_desc(index) if self._is_native else self.outputs()[check.unsigned(index, "index")]

    def inputs(self) -> List[TensorDesc]:
        self._must_be_native("inputs()")
        return super().inputs()

    def outputs(self) -> List[TensorDesc]:
        self._must_be_native("outputs()")
        return super().outputs()

    def execute(self, inputs: Sequence[Tensor]) -> List[Tensor]:
        """Runs the processor once, outside any pipeline."""
        self._must_be_native("execute()")
        given, outputs = _slots(inputs), (ctypes.c_void_p * self.output_count)()
        try:
            self._native.call_back("Execute", len(given), _array(given), len(outputs), outputs)
        finally:
            made = [Reference(address, "IWinMLTensor") for address in outputs if address]
        if len(made) != len(outputs):
            raise WinMLError(E_UNEXPECTED, "the processor succeeded without giving every output")
        return [Tensor._of(reference, self._context) for reference in made]

    def record_commands(self, command_list: object, inputs: Sequence[Tensor]) -> RecordedProcessorOutputs:
        """Records the work into an open command list; NotSupportedError for processors that cannot."""
        self._must_be_native("record_commands()")
        recorder = self._interface("IWinMLD3D12Processor")
        commands = foreign_pointer(command_list, "command_list")
        given, outputs = _slots(inputs), (ctypes.c_void_p * self.output_count)()
        try:
            recorder.call_back("RecordCommands", commands, len(given), _array(given), len(outputs), outputs)
        finally:
            made = [Reference(address, "IWinMLTensor") for address in outputs if address]
        tensors = [Tensor._of(reference, self._context) for reference in made]
        return RecordedProcessorOutputs(tensors, (self._native, commands, given))

    def __enter__(self) -> Processor:
        return super().__enter__() if self._is_native else self

    def close(self) -> None:
        if self._is_native:
            super().close()

    @property
    def _is_native(self) -> bool:
        return "_interfaces" in self.__dict__  # kept by close(), so that a closed processor says that it is closed

    def _must_be_native(self, method: str) -> None:
        if not self._is_native:
            raise NotImplementedError(f"{type(self).__name__} does not define {method}")


class RecordedProcessorOutputs(List[Tensor]):
    """The outputs of recorded commands; what the recording refers to stays until release_recording()."""

    def __init__(self, outputs: Sequence[Tensor] = (), recording: object = None) -> None:
        super().__init__(outputs)
        self._recording: Optional[object] = recording

    def release_recording(self) -> None:
        """Lets go of the processor, the command list and the inputs; the outputs stay."""
        self._recording = None

    def close(self) -> None:
        self.release_recording()
        for tensor in self:
            tensor.close()
        self.clear()

    def __enter__(self) -> RecordedProcessorOutputs:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class PythonProcessor(ComObject):
    """The native face of a processor written in Python."""

    interface_name = "IWinMLProcessor"

    def __init__(self, processor: Any, context: Context) -> None:
        self._processor = processor
        self._context = context
        self._inputs = [make_desc(*desc) for desc in _concrete(processor.inputs(), "inputs()")]
        self._output_descs = _concrete(processor.outputs(), "outputs()")
        self._outputs = [make_desc(*desc) for desc in self._output_descs]
        super().__init__()

    def GetInputCount(self, count: int) -> None:
        write(count, ctypes.c_uint32, len(self._inputs))

    def GetOutputCount(self, count: int) -> None:
        write(count, ctypes.c_uint32, len(self._outputs))

    def GetInputTensorDesc(self, index: int, desc: int) -> None:
        _give_desc(self._inputs, index, desc)

    def GetOutputTensorDesc(self, index: int, desc: int) -> None:
        _give_desc(self._outputs, index, desc)

    def Execute(self, input_count: int, inputs: int, output_count: int, outputs: int) -> None:
        if input_count != len(self._inputs) or output_count != len(self._outputs):
            raise WinMLError(
                E_INVALIDARG, f"the processor takes {len(self._inputs)} and gives {len(self._outputs)} tensors"
            )
        given = [self._borrow(address, i) for i, address in enumerate(_read_array(inputs, input_count))]
        made = self._processor.execute(given)
        if made is None or isinstance(made, Tensor) or len(made) != output_count:
            found = "no list" if made is None or isinstance(made, Tensor) else f"{len(made)} tensors"
            raise ValueError(f"execute() returned {found}; outputs() declares {output_count}")
        results = [reference_of(tensor, Tensor, f"output {i} of execute()") for i, tensor in enumerate(made)]
        for index, tensor in enumerate(made):
            kind, shape = tensor.desc()
            if (kind, shape) != self._output_descs[index]:
                wanted = self._output_descs[index]
                raise ValueError(
                    f"output {index} of execute() is {kind.name} {shape}; outputs() says {wanted[0].name} {wanted[1]}"
                )
        # Nothing has been stored so far, so a failure above leaves nobody with references to clean up.
        slots = _read_array(outputs, output_count)
        for slot, result in zip(slots, results):
            if slot and slot != result.address:
                Reference.borrowed(slot, "IWinMLTensor").query("IWinMLMutableTensor").call("CopyFrom", result)
        for index, (slot, result) in enumerate(zip(slots, results)):
            if not slot:
                kept = Reference.borrowed(result.address, "IWinMLTensor").detach()
                ctypes.c_void_p.from_address(outputs + index * POINTER_SIZE).value = kept
        callback_state.exception = None  # what execute() itself caught on the way is no failure of this call

    def _borrow(self, address: Optional[int], index: int) -> Tensor:
        if not address:
            raise WinMLError(E_POINTER, f"input {index} of the processor was null")
        return Tensor._of(Reference.borrowed(address, "IWinMLTensor"), self._context)

    def released(self) -> None:
        self._processor = None


def native_processor(processor: Any, context: Context) -> Reference:
    """The native side of anything that add_processor_stage takes."""
    if isinstance(processor, Processor) and processor._is_native:
        return processor._native
    missing = [name for name in ("inputs", "outputs", "execute") if not callable(getattr(processor, name, None))]
    if missing or isinstance(processor, type):
        raise TypeError(
            "processor must be a Processor or an object with inputs(), outputs() and execute(), "
            f"not {type(processor).__name__}"
        )
    return PythonProcessor(processor, context).take_reference()


def _concrete(descs: Any, name: str) -> List[TensorDesc]:
    if isinstance(descs, (str, bytes)) or not hasattr(descs, "__iter__"):
        raise TypeError(f"{name} must return a list of (data type, shape), not {type(descs).__name__}")
    found: List[TensorDesc] = []
    for index, desc in enumerate(descs):
        if not isinstance(desc, (tuple, list)) or len(desc) != 2:
            raise TypeError(f"{name}[{index}] must be (data type, shape), not {desc!r}")
        kind = check.member(TensorDataType, desc[0], f"data type of {name}[{index}]")
        found.append((kind, check.shape(desc[1], f"shape of {name}[{index}]")))
    return found


def _give_desc(descs: List[Any], index: int, out: int) -> None:
    if not out:
        raise WinMLError(E_POINTER, "desc was null")
    if index >= len(descs):
        raise WinMLError(E_INVALIDARG, f"the processor has {len(descs)} such tensors; there is none at {index}")
    target = struct("WINML_TENSOR_DESC").from_address(out)
    source = descs[index]
    target.dataType, target.dimensionCount, target.dimensions = (
        source.dataType,
        source.dimensionCount,
        source.dimensions,
    )


def _slots(tensors: Any) -> Tuple[Reference, ...]:
    found = check.instances(tensors, Tensor, "inputs")
    return tuple(reference_of(tensor, Tensor, f"inputs[{i}]") for i, tensor in enumerate(found))


def _array(references: Sequence[Reference]) -> Any:
    return (ctypes.c_void_p * len(references))(*(reference.address for reference in references))


def _read_array(address: int, count: int) -> List[Optional[int]]:
    if not count:
        return []
    if not address:
        raise WinMLError(E_POINTER, "an array of tensors was null")
    return list((ctypes.c_void_p * count).from_address(address))
