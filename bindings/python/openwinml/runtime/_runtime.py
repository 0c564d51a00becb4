# The entry object: loads models, makes targets, builders, processors and tensors.
# Constructed by applications; everything else comes from it.
"""Runtime."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional, Sequence, SupportsIndex, Tuple, Union

from .. import _arguments as check
from .. import _onnxruntime
from .._native import library
from .._native.buffers import ExportedBuffer
from .._native.errors import NotSupportedError
from .._native.interfaces import interface
from .._native.reference import create_by_export
from .._native.wrapper import reference_of
from . import _audio, _image, _tensor, _tokens
from ._context import Context, ContextObject
from ._enums import ExecutionTargetKind, ExecutionTargetPreference, ImageFormat, TensorAccessMode, TensorDataType
from ._model import Model
from ._pipeline import PipelineBuilder
from ._processor import Processor
from ._records import AudioTensorOptions, ImageTensorOptions, TokenTensorOptions, VideoFrameMetadata
from ._resources import reader
from ._target import ExecutionTarget
from ._tensor import Tensor
from ._tokenizer import Tokenizer

_INT32_MAX = (1 << 31) - 1


class Runtime(ContextObject):
    """Loads models and makes what runs them. What came from it stays valid after it is closed.

    Wherever a target is optional, leaving it out means the CPU.
    """

    def __init__(self) -> None:
        create = library.function(library.runtime(), "WinMLCreateRuntime", 2)
        self._hold(create_by_export(create, "WinMLCreateRuntime", "IWinMLRuntime", interface("IWinMLRuntime").iid))
        self._shared = Context(self._native)

    # Models.

    def load_model(self, path: str, *, resources: Optional[Mapping[str, object]] = None) -> Model:
        """Loads a model file; `resources` maps names of external data to bytes-like objects."""
        where = check.path(path, "path")
        return self._load("LoadModelFromFile", where, reader(resources))

    def load_model_from_buffer(
        self, data: Union[bytes, bytearray], *, resources: Optional[Mapping[str, object]] = None
    ) -> Model:
        """Loads a model from memory, which may be reused afterwards."""
        entries = reader(resources)
        with ExportedBuffer(data, "data") as buffer:
            return self._load("LoadModelFromBuffer", buffer.address or 1, buffer.size, entries)

    def _load(self, method: str, *arguments: Any) -> Model:
        try:
            return Model._adopt(self._native.create(method, "IWinMLModel", *arguments))
        except NotSupportedError as error:
            if _onnxruntime.MISSING not in str(error) or _onnxruntime.installed_library():
                raise
            sentence = f"{error.native_message}. {_onnxruntime.INSTALL_HINT}"
            raise NotSupportedError(error.hresult, sentence) from error

    # Targets.

    def create_cpu_target(self) -> ExecutionTarget:
        return self._target("CreateCpuExecutionTarget")

    def create_target(
        self, kind: ExecutionTargetKind, preference: ExecutionTargetPreference = ExecutionTargetPreference.DEFAULT
    ) -> ExecutionTarget:
        """A device of that class; `preference` orders several of them."""
        wanted = check.member(ExecutionTargetKind, kind, "kind")
        order = check.member(ExecutionTargetPreference, preference, "preference")
        return self._target("CreateExecutionTarget", wanted, order)

    def create_target_from_adapter(self, adapter: object) -> ExecutionTarget:
        return self._target("CreateExecutionTargetFromAdapter", _tensor.foreign_pointer(adapter, "adapter"))

    def create_target_from_d3d12(self, device: object, command_queue: Optional[object] = None) -> ExecutionTarget:
        queue = None if command_queue is None else _tensor.foreign_pointer(command_queue, "command_queue")
        return self._target("CreateExecutionTargetFromD3D12", _tensor.foreign_pointer(device, "device"), queue)

    def create_ort_execution_target(
        self, provider_name: str, kind: ExecutionTargetKind, hardware_target: Optional[ExecutionTarget] = None
    ) -> ExecutionTarget:
        """A target whose ONNX stages must use one execution provider."""
        name = check.text(provider_name, "provider_name", empty=False)
        wanted = check.member(ExecutionTargetKind, kind, "kind")
        hardware = (
            None if hardware_target is None else reference_of(hardware_target, ExecutionTarget, "hardware_target")
        )
        compatibility = self._interface("IWinMLOrtCompatibility")
        made = compatibility.create("CreateExecutionTarget", "IWinMLExecutionTarget", name, wanted, hardware)
        return ExecutionTarget._of(made, self._context)

    def _target(self, method: str, *arguments: Any) -> ExecutionTarget:
        made = self._native.create(method, "IWinMLExecutionTarget", *arguments)
        return ExecutionTarget._of(made, self._context)

    # Pipelines and processors.

    def create_pipeline_builder(self) -> PipelineBuilder:
        made = self._native.create("CreatePipelineBuilder", "IWinMLPipelineBuilder")
        return PipelineBuilder._of(made, self._context)

    def create_decode_embed_processor(
        self,
        vocabulary_size: int,
        hidden_size: int,
        sequence_capacity: int,
        hidden_output: Tensor,
        *,
        target: Optional[ExecutionTarget] = None,
    ) -> Processor:
        """Looks up the embedding row of a token."""
        return self._processor(
            target,
            "CreateDecodeEmbedProcessor",
            check.unsigned(vocabulary_size, "vocabulary_size", _INT32_MAX, 1),
            check.unsigned(hidden_size, "hidden_size", least=1),
            check.unsigned(sequence_capacity, "sequence_capacity", _INT32_MAX, 1),
            reference_of(hidden_output, Tensor, "hidden_output"),
        )

    def create_decode_sample_processor(
        self,
        vocabulary_size: int,
        logits_are_float32: bool,
        token_ring: Tensor,
        position: Tensor,
        sequence_length: Tensor,
        observed_token: Tensor,
        *,
        target: Optional[ExecutionTarget] = None,
    ) -> Processor:
        """Takes the most likely token and writes it into a ring."""
        return self._processor(
            target,
            "CreateDecodeSampleProcessor",
            check.unsigned(vocabulary_size, "vocabulary_size", _INT32_MAX, 1),
            check.flag(logits_are_float32, "logits_are_float32"),
            reference_of(token_ring, Tensor, "token_ring"),
            reference_of(position, Tensor, "position"),
            reference_of(sequence_length, Tensor, "sequence_length"),
            reference_of(observed_token, Tensor, "observed_token"),
        )

    def create_decode_greedy_processor(
        self,
        vocabulary_size: int,
        logits_are_float32: bool,
        next_token: Tensor,
        position: Tensor,
        step_state: Tensor,
        observed_token: Tensor,
        *,
        target: Optional[ExecutionTarget] = None,
    ) -> Processor:
        """Takes the most likely token and writes it where the next step reads it."""
        return self._processor(
            target,
            "CreateDecodeGreedyProcessor",
            check.unsigned(vocabulary_size, "vocabulary_size", _INT32_MAX, 1),
            check.flag(logits_are_float32, "logits_are_float32"),
            reference_of(next_token, Tensor, "next_token"),
            reference_of(position, Tensor, "position"),
            reference_of(step_state, Tensor, "step_state"),
            reference_of(observed_token, Tensor, "observed_token"),
        )

    def _processor(self, target: Any, method: str, *arguments: Any) -> Processor:
        factory = self._context.factory(target, "IWinMLTensorProcessorFactory")
        return Processor._of(factory.create(method, "IWinMLProcessor", *arguments), self._context)

    # Tensors.

    def create_tensor(
        self,
        data_type: TensorDataType,
        shape: Sequence[SupportsIndex],
        data: Union[bytes, bytearray, memoryview, None] = None,
        *,
        target: Optional[ExecutionTarget] = None,
    ) -> Tensor:
        """A tensor with a copy of `data`, or of zeros."""
        return _tensor.create(self._context, data_type, shape, data, target)

    def tensor_from_numpy(self, array: object, *, target: Optional[ExecutionTarget] = None) -> Tensor:
        """A tensor with a copy of a numpy array."""
        return _tensor.from_numpy(self._context, array, target)

    def tensor_from_buffer(
        self,
        buffer: object,
        data_type: TensorDataType,
        shape: Sequence[SupportsIndex],
        *,
        access: TensorAccessMode = TensorAccessMode.COPY,
        target: Optional[ExecutionTarget] = None,
    ) -> Tensor:
        """A tensor of a buffer's bytes: a copy, or with READ and READWRITE the buffer itself.

        A borrowed buffer stays exported until the tensor is closed and no stage holds it any more.
        """
        return _tensor.from_buffer(self._context, buffer, data_type, shape, access, target)

    def tensor_from_d3d12_buffer(
        self,
        resource: object,
        data_type: TensorDataType,
        shape: Sequence[SupportsIndex],
        *,
        offset_in_bytes: int = 0,
        size_in_bytes: Optional[int] = None,
        target: ExecutionTarget,
    ) -> Tensor:
        return _tensor.from_d3d12_buffer(
            self._context, resource, data_type, shape, offset_in_bytes, size_in_bytes, target
        )

    def tensor_region(
        self,
        source: Tensor,
        starts: Sequence[SupportsIndex],
        extents: Sequence[SupportsIndex],
        *,
        target: Optional[ExecutionTarget] = None,
    ) -> Tensor:
        """A new tensor with a box of another one's elements."""
        return _tensor.region(self._context, source, starts, extents, target)

    def tensor_from_image(
        self,
        image: object,
        *,
        options: Optional[ImageTensorOptions] = None,
        target: Optional[ExecutionTarget] = None,
        width: Optional[int] = None,
        height: Optional[int] = None,
        row_pitch: Optional[int] = None,
        image_format: Optional[ImageFormat] = None,
    ) -> Tensor:
        """A tensor of a Pillow image, an array of uint8, or raw pixels with their width and height."""
        picture = _image.picture_of(image, width, height, row_pitch, image_format)
        return _image.create(self._context, picture, options, target)

    def write_tensor_from_image(
        self,
        destination: Tensor,
        image: object,
        *,
        options: Optional[ImageTensorOptions] = None,
        target: Optional[ExecutionTarget] = None,
        width: Optional[int] = None,
        height: Optional[int] = None,
        row_pitch: Optional[int] = None,
        image_format: Optional[ImageFormat] = None,
    ) -> None:
        """Like tensor_from_image, into a tensor that is already there."""
        picture = _image.picture_of(image, width, height, row_pitch, image_format)
        _image.write(self._context, destination, picture, options, target)

    def image_bytes_from_tensor(
        self,
        tensor: Tensor,
        *,
        size: Tuple[int, int],
        image_format: ImageFormat = ImageFormat.RGBA8,
        options: Optional[ImageTensorOptions] = None,
        target: Optional[ExecutionTarget] = None,
    ) -> bytes:
        """The picture in a tensor, rows tightly packed; `options` say how to read the tensor."""
        return _image.read(self._context, tensor, size, image_format, options, target)

    def tensor_from_audio(
        self,
        samples: object,
        *,
        sample_rate: int,
        channels: Optional[int] = None,
        sample_format: Optional[str] = None,
        options: Optional[AudioTensorOptions] = None,
        target: Optional[ExecutionTarget] = None,
    ) -> Tensor:
        """A tensor of interleaved samples: "float32" (the default) or "int16" bytes, or an array [frames, channels]."""
        return _audio.create(self._context, samples, sample_rate, channels, sample_format, options, target)

    def audio_bytes_from_tensor(
        self,
        tensor: Tensor,
        *,
        sample_rate: int,
        channels: int,
        sample_format: str = "float32",
        target: Optional[ExecutionTarget] = None,
    ) -> bytes:
        """The sound in a tensor as interleaved samples."""
        return _audio.read(self._context, tensor, sample_rate, channels, sample_format, target)

    def tensor_from_tokens(
        self,
        token_ids: Sequence[SupportsIndex],
        *,
        options: Optional[TokenTensorOptions] = None,
        target: Optional[ExecutionTarget] = None,
    ) -> Tensor:
        """A tensor [1, count] of token ids."""
        return _tokens.create(self._context, token_ids, options, target)

    def tensor_from_text(
        self,
        text: str,
        tokenizer: Tokenizer,
        *,
        add_special_tokens: bool = True,
        options: Optional[TokenTensorOptions] = None,
        target: Optional[ExecutionTarget] = None,
    ) -> Tensor:
        """A tensor [1, count] of the tokens of a text."""
        chosen = check.instance(tokenizer, Tokenizer, "tokenizer")
        return _tokens.create(self._context, chosen.encode(text, add_special_tokens), options, target)

    def token_ids_from_tensor(self, tensor: Tensor, *, target: Optional[ExecutionTarget] = None) -> List[int]:
        """The ids along the last axis of an INT32 or INT64 tensor."""
        return _tokens.read(self._context, tensor, target)

    def tensor_from_mf_sample(
        self, sample: object, *, options: ImageTensorOptions, metadata: VideoFrameMetadata, target: ExecutionTarget
    ) -> Tensor:
        return _image.from_sample(self._context, sample, options, metadata, target)

    def write_tensor_from_mf_sample(
        self,
        destination: Tensor,
        sample: object,
        *,
        options: ImageTensorOptions,
        metadata: VideoFrameMetadata,
        target: ExecutionTarget,
    ) -> None:
        _image.write_sample(self._context, destination, sample, options, metadata, target)

    def mf_sample_from_tensor(
        self,
        tensor: Tensor,
        *,
        options: ImageTensorOptions,
        metadata: Optional[VideoFrameMetadata] = None,
        media_type: Optional[object] = None,
        target: ExecutionTarget,
    ) -> object:
        return _image.to_sample(self._context, tensor, options, metadata, media_type, target)
