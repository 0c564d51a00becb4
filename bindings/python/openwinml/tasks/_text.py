# Text generation: a task makes sessions, a session starts streams, a stream is read to its result.
# Made by Tasks.create_text_generation_task.
"""TextGenerationTask, TextGenerationSession and TextGenerationStream."""

from __future__ import annotations

import ctypes
from typing import Any, Iterable, Iterator, List, Optional, Tuple, Union

from .. import _arguments as check
from .._native import library
from .._native.errors import WinMLError
from .._native.interfaces import struct
from .._native.memory import take_unsigned_array, unsigned_array
from .._native.reference import Reference
from .._native.wrapper import NativeInterface, reference_of
from ..runtime import (
    ExecutionTarget,
    MediaEncoder,
    Runtime,
    SequenceSegmentLayout,
    Tensor,
    TokenConstraint,
    Tokenizer,
)
from ._cancellation import CancellationSource
from ._configuration import TextGenerationConfiguration
from ._context import EndingObject, StreamObject, TaskObject
from ._enums import (
    TextGenerationExecutionProfile,
    TextGenerationFinishReason,
    TextGenerationOutputKind,
    TextGenerationSequenceDisclosure,
    TextGenerationSessionState,
    TextGenerationSpeculativeMethod,
)
from ._options import TextGenerationOptions, native_options
from ._records import (
    TextGenerationCapabilities,
    TextGenerationResult,
    TextGenerationSegment,
    TextGenerationSequenceState,
    TextGenerationSpeculativeStatistics,
    TextGenerationUpdate,
    with_sentence,
)

_E_NOT_VALID_STATE = 0x8007139F
_STREAM = "IWinMLTextGenerationPullStream"
_COMPLETED = 1


def read_ids(native: Reference, method: str) -> Tuple[int, ...]:
    """Token ids that the caller frees."""
    count, ids = ctypes.c_uint32(), ctypes.c_void_p()
    native.call(method, ctypes.byref(count), ctypes.byref(ids))
    return tuple(take_unsigned_array(ids.value, count.value))


def read_error(native: Reference) -> Tuple[int, Optional[str]]:
    """The error code of a result and the library's sentence for it."""
    code = native.get("GetErrorCode", ctypes.c_int32) & 0xFFFFFFFF
    return code, library.take_error_message() if code else None


def _read_result(native: Reference) -> TextGenerationResult:
    code, sentence = read_error(native)
    statistics = None
    speculative = native.try_query("IWinMLTextGenerationSpeculativeResult")
    if speculative is not None:
        found = speculative.get("GetSpeculativeStatistics", struct("WINML_TEXT_GENERATION_SPECULATIVE_STATISTICS"))
        method = TextGenerationSpeculativeMethod(found.method)
        if method != TextGenerationSpeculativeMethod.NONE:
            counts = found.verificationStepCount, found.draftTokenCount, found.acceptedDraftTokenCount
            statistics = TextGenerationSpeculativeStatistics(method, *counts)
    result = TextGenerationResult(
        native.text("GetText") or "",
        read_ids(native, "GetTokenIds"),
        TextGenerationFinishReason(native.get("GetFinishReason", ctypes.c_int32)),
        code,
        native.get("GetPromptTokenCount", ctypes.c_uint32),
        statistics,
    )
    return with_sentence(result, sentence)  # type: ignore[no-any-return]


class TextGenerationStream(StreamObject, Iterator[TextGenerationUpdate]):
    """One generation; it advances only while it is read."""

    _result: Optional[TextGenerationResult] = None

    def read_next(self) -> Optional[TextGenerationUpdate]:
        """The next token; None at the end. Other Python threads go on meanwhile."""
        status, token, fragment = ctypes.c_int32(), ctypes.c_uint32(), ctypes.c_void_p()
        self._native.call("ReadNext", *map(ctypes.byref, (status, token, fragment)))
        if status.value == _COMPLETED:
            return None
        return TextGenerationUpdate(token.value, ctypes.wstring_at(fragment.value) if fragment.value else "")

    @property
    def result(self) -> TextGenerationResult:
        """What came out, once the stream was read to its end."""
        native = self._native
        if self._result is None:
            self._result = _read_result(native.create("GetResult", "IWinMLTextGenerationResult"))
        return self._result

    def __iter__(self) -> TextGenerationStream:
        return self

    def __next__(self) -> TextGenerationUpdate:
        update = self.read_next()
        if update is None:
            raise StopIteration
        return update


def finish(stream: TextGenerationStream) -> TextGenerationResult:
    """Reads a stream to its end."""
    with stream:
        for _ in stream:
            pass
        return stream.result


class TextGenerationSession(EndingObject):
    """One sequence; one stream at a time. Belongs to the thread that made it."""

    @property
    def state(self) -> TextGenerationSessionState:
        return TextGenerationSessionState(self._native.get("GetState", ctypes.c_int32))

    @property
    def runtime(self) -> Runtime:
        self._native
        return self._tasks.runtime

    @property
    def configuration(self) -> TextGenerationConfiguration:
        """What the session was made of; used up."""
        found = self._native.create("GetConfiguration", "IWinMLTextGenerationConfiguration")
        return TextGenerationConfiguration._of(found, self._tasks.runtime_context)

    @property
    def capabilities(self) -> TextGenerationCapabilities:
        found = self._native.get("GetCapabilities", struct("WINML_TEXT_GENERATION_CAPABILITIES"))
        return TextGenerationCapabilities(
            TextGenerationExecutionProfile(found.executionProfile),
            TextGenerationOutputKind(found.outputKind),
            bool(found.supportsContinuation),
            bool(found.supportsConstraints),
            bool(found.supportsSegmentedPrompts),
            bool(found.supportsEmbeddingSegments),
            bool(found.supportsConstrainedContinuation),
            bool(found.supportsConstrainedEmbeddingSegments),
            _sequence_state(found.sequenceState),
        )

    @property
    def sequence_state(self) -> TextGenerationSequenceState:
        disclosure = self._interface("IWinMLTextGenerationSequenceDisclosure")
        return _sequence_state(disclosure.get("GetSequenceState", struct("WINML_TEXT_GENERATION_SEQUENCE_STATE")))

    @property
    def retained_token_ids(self) -> Tuple[int, ...]:
        """The tokens that the model has consumed and keeps."""
        return read_ids(self._interface("IWinMLTextGenerationSequenceDisclosure"), "GetRetainedTokenIds")

    def generate_text(
        self,
        prompt: str,
        options: Optional[TextGenerationOptions] = None,
        *,
        cancellation: Optional[CancellationSource] = None,
    ) -> TextGenerationStream:
        """Encodes the text with special tokens and starts a new sequence."""
        return self._start(self._native, "GenerateText", (check.text(prompt, "prompt"),), options, cancellation)

    def generate_tokens(
        self,
        token_ids: Iterable[int],
        options: Optional[TextGenerationOptions] = None,
        *,
        cancellation: Optional[CancellationSource] = None,
    ) -> TextGenerationStream:
        """Starts a new sequence."""
        return self._start(self._native, "GenerateTokens", _tokens(token_ids), options, cancellation)

    def continue_tokens(
        self,
        token_ids: Iterable[int] = (),
        options: Optional[TextGenerationOptions] = None,
        *,
        cancellation: Optional[CancellationSource] = None,
    ) -> TextGenerationStream:
        """Goes on after the retained sequence."""
        return self._start(self._native, "ContinueTokens", _tokens(token_ids), options, cancellation)

    def generate_segments(
        self,
        segments: Iterable[TextGenerationSegment],
        options: Optional[TextGenerationOptions] = None,
        *,
        cancellation: Optional[CancellationSource] = None,
    ) -> TextGenerationStream:
        """Starts a new sequence from tokens and media."""
        count, array, kept = _segments(segments)
        stream = self._start(self._native, "GenerateSegments", (count, array), options, cancellation)
        del kept  # what the array points to
        return stream

    def generate_tokens_with_constraint(
        self,
        token_ids: Iterable[int],
        constraint: TokenConstraint,
        options: Optional[TextGenerationOptions] = None,
        *,
        cancellation: Optional[CancellationSource] = None,
    ) -> TextGenerationStream:
        """Starts a new sequence that the constraint allows; the constraint goes along with it."""
        view = self._interface("IWinMLTextGenerationConstraintSession")
        arguments = (*_tokens(token_ids), _constraint(constraint))
        return self._start(view, "GenerateTokensWithConstraint", arguments, options, cancellation)

    def generate_segments_with_constraint(
        self,
        segments: Iterable[TextGenerationSegment],
        constraint: object,
        options: Optional[TextGenerationOptions] = None,
        *,
        cancellation: Optional[CancellationSource] = None,
    ) -> TextGenerationStream:
        view = self._interface("IWinMLTextGenerationConstraintSession")
        count, array, kept = _segments(segments)
        arguments = (count, array, _constraint(constraint))
        stream = self._start(view, "GenerateSegmentsWithConstraint", arguments, options, cancellation)
        del kept  # what the array points to
        return stream

    def continue_tokens_with_constraint(
        self,
        token_ids: Iterable[int],
        constraint: TokenConstraint,
        options: Optional[TextGenerationOptions] = None,
        *,
        cancellation: Optional[CancellationSource] = None,
    ) -> TextGenerationStream:
        view = self._interface("IWinMLTextGenerationConstraintContinuation")
        arguments = (*_tokens(token_ids), _constraint(constraint))
        return self._start(view, "ContinueTokensWithConstraint", arguments, options, cancellation)

    def create_media_encoder_from_file(
        self, encoder_path: str, target: Optional[ExecutionTarget] = None
    ) -> MediaEncoder:
        place = None if target is None else reference_of(target, ExecutionTarget, "target")
        path = check.path(encoder_path, "encoder_path")
        made = self._native.create("CreateMediaEncoderFromFile", "IWinMLMediaEncoder", path, place)
        return MediaEncoder._of(made, self._tasks.runtime_context)

    def stream(
        self,
        prompt: str,
        options: Optional[TextGenerationOptions] = None,
        *,
        cancellation: Optional[CancellationSource] = None,
    ) -> TextGenerationStream:
        return self.generate_text(prompt, options, cancellation=cancellation)

    def generate(
        self,
        prompt: str,
        options: Optional[TextGenerationOptions] = None,
        *,
        cancellation: Optional[CancellationSource] = None,
    ) -> TextGenerationResult:
        """The whole answer at once."""
        return finish(self.generate_text(prompt, options, cancellation=cancellation))

    def reset(self) -> None:
        """Forgets the sequence; needed after a failure."""
        self._native.call("Reset")

    def _start(
        self,
        view: Reference,
        method: str,
        arguments: Tuple[Any, ...],
        options: Optional[TextGenerationOptions],
        cancellation: Optional[CancellationSource],
    ) -> TextGenerationStream:
        wanted = native_options(self._tasks.text_factory(), options)
        source = self._tasks.source(cancellation)
        made = view.create(method, _STREAM, *arguments, wanted, source)
        return TextGenerationStream._reading(made, self._tasks, source)


class TextGenerationTask(TaskObject):
    """A tokenizer and its end tokens; makes sessions, and keeps one of its own for the short ways."""

    _tokenizer: Tokenizer
    _default_configuration: Optional[TextGenerationConfiguration] = None
    _default_session: Optional[TextGenerationSession] = None

    @property
    def runtime(self) -> Runtime:
        self._native
        return self._tasks.runtime

    @property
    def tokenizer(self) -> Tokenizer:
        self._native
        return self._tokenizer

    @property
    def default_eos_token_ids(self) -> Tuple[int, ...]:
        """The tokens that end an answer."""
        return read_ids(self._native, "GetDefaultEosTokenIds")

    def create_session(self, configuration: TextGenerationConfiguration) -> TextGenerationSession:
        """Uses the configuration up. One without a tokenizer gets the task's."""
        native = reference_of(configuration, TextGenerationConfiguration, "configuration")
        if configuration.tokenizer is None:
            configuration.set_tokenizer(self._tokenizer)
        made = self._native.create("CreateSession", "IWinMLTextGenerationSession", native)
        return TextGenerationSession._in(made, self._tasks)

    @property
    def default_session(self) -> TextGenerationSession:
        """Made from the default configuration at the first use; close() of the task closes it."""
        self._native
        if self._default_session is None:
            if self._default_configuration is None:
                raise WinMLError(_E_NOT_VALID_STATE, "the task was made without a default configuration")
            self._default_session = self.create_session(self._default_configuration)
        return self._default_session

    def stream(
        self,
        prompt: str,
        options: Optional[TextGenerationOptions] = None,
        *,
        cancellation: Optional[CancellationSource] = None,
    ) -> TextGenerationStream:
        return self.default_session.generate_text(prompt, options, cancellation=cancellation)

    def generate(
        self,
        prompt: str,
        options: Optional[TextGenerationOptions] = None,
        *,
        cancellation: Optional[CancellationSource] = None,
    ) -> TextGenerationResult:
        """The whole answer at once."""
        return self.default_session.generate(prompt, options, cancellation=cancellation)

    def stream_segments(
        self,
        segments: Iterable[TextGenerationSegment],
        options: Optional[TextGenerationOptions] = None,
        *,
        cancellation: Optional[CancellationSource] = None,
    ) -> TextGenerationStream:
        return self.default_session.generate_segments(segments, options, cancellation=cancellation)

    def generate_segments(
        self,
        segments: Iterable[TextGenerationSegment],
        options: Optional[TextGenerationOptions] = None,
        *,
        cancellation: Optional[CancellationSource] = None,
    ) -> TextGenerationResult:
        return finish(self.stream_segments(segments, options, cancellation=cancellation))

    def create_media_encoder_from_file(
        self, encoder_path: str, target: Optional[ExecutionTarget] = None
    ) -> MediaEncoder:
        return self.default_session.create_media_encoder_from_file(encoder_path, target)

    def close(self) -> None:
        if self._default_session is not None:
            self._default_session.close()
        self._default_session = self._default_configuration = None
        super().close()


def _sequence_state(found: Any) -> TextGenerationSequenceState:
    return TextGenerationSequenceState(
        TextGenerationSequenceDisclosure(found.disclosure),
        TextGenerationSessionState(found.sessionState),
        found.evaluatedTokenCount,
        found.retainedTokenCount,
    )


def _tokens(token_ids: Any) -> Tuple[int, Any]:
    ids = check.integers(token_ids, "token_ids")
    return len(ids), unsigned_array(ids) if ids else None


def _constraint(constraint: Any) -> Reference:
    if isinstance(constraint, NativeInterface):
        return constraint._native
    return reference_of(constraint, TokenConstraint, "constraint")


def _segments(values: Union[Iterable[TextGenerationSegment], Any]) -> Tuple[int, Any, List[Any]]:
    """The array for the length of a call, and what it points to."""
    segments = check.instances(values, TextGenerationSegment, "segments")
    array, kept = (struct("WINML_GENERATION_SEGMENT") * len(segments))(), []
    for target, segment in zip(array, segments):
        target.kind = segment.kind
        if segment.token_ids:
            ids = unsigned_array(segment.token_ids)
            kept.append(ids)
            target.tokenCount, target.tokenIds = len(segment.token_ids), ctypes.addressof(ids)
        else:
            rows = reference_of(segment.embedding_tensor, Tensor, "embedding_tensor")
            layout = reference_of(segment.layout, SequenceSegmentLayout, "layout")
            kept += [rows, layout]
            target.embeddings, target.layout = rows.address, layout.address
    return len(segments), array, kept
