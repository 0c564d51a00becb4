# Chat completion: conversations in, parsed events out, on a text session.
# Made by Tasks.create_chat_completion_task.
"""ChatCompletionTask, ChatCompletionSession, ChatCompletionStream and ChatCompletionResult."""

from __future__ import annotations

import ctypes
from typing import Any, Iterable, Iterator, Optional, Tuple

from .. import _arguments as check
from .._conversation_request import native_request
from .._conversation_values import ChatCompletionRequest, ChatCompletionToolCall
from .._native.errors import WinMLError, failure
from .._native.interfaces import struct
from .._native.reference import Reference
from .._native.wrapper import NativeInterface, NativeObject, reference_of
from ..runtime import MediaEncoder, Runtime, Tensor, TokenConstraint, Tokenizer
from ..runtime._conversation import read_event
from ._cancellation import CancellationSource
from ._context import EndingObject, StreamObject, TaskContext, TaskObject
from ._enums import ChatCompletionFinishReason, ChatCompletionPromptCacheMode
from ._options import TextGenerationOptions, native_options
from ._records import ChatCompletionEvent, ChatCompletionPromptCacheUse, ChatMediaBinding
from ._text import TextGenerationSession, read_error, read_ids

_E_NOT_VALID_STATE = 0x8007139F
_STREAM = "IWinMLChatCompletionPullStream"
_COMPLETED = 1


class ChatCompletionResult(NativeObject):
    """What a finished completion produced. The values stay after close()."""

    content: str
    reasoning_content: str
    tool_calls: Tuple[ChatCompletionToolCall, ...]
    prompt_token_count: int
    completion_token_count: int
    finish_reason: ChatCompletionFinishReason
    error_code: int
    _sentence: Optional[str]

    def _hold(self, reference: Reference) -> None:
        super()._hold(reference)
        self.error_code, self._sentence = read_error(reference)
        self.content = reference.text("GetContent") or ""
        self.reasoning_content = reference.text("GetReasoningContent") or ""
        count = reference.get("GetToolCallCount", ctypes.c_uint32)
        self.tool_calls = tuple(_tool_call(reference, index) for index in range(count))
        prompt, completion = ctypes.c_uint32(), ctypes.c_uint32()
        reference.call("GetTokenCounts", ctypes.byref(prompt), ctypes.byref(completion))
        self.prompt_token_count, self.completion_token_count = prompt.value, completion.value
        self.finish_reason = ChatCompletionFinishReason(reference.get("GetFinishReason", ctypes.c_int32))
        use = reference.get("GetPromptCacheUse", struct("WINML_CHAT_COMPLETION_PROMPT_CACHE"))
        self._cache_use = ChatCompletionPromptCacheUse(
            ChatCompletionPromptCacheMode(use.mode),
            use.promptTokenCount,
            use.cachedPromptTokenCount,
            use.prefilledPromptTokenCount,
        )

    @property
    def prompt_cache_use(self) -> ChatCompletionPromptCacheUse:
        """How much of the prompt was still there."""
        return self._cache_use

    @property
    def text_generation_result_interface(self) -> NativeInterface:
        """The native result of the text generation below."""
        return NativeInterface._adopt(self._native.create("GetTextGenerationResult", "IWinMLTextGenerationResult"))

    def raise_for_error(self) -> None:
        """Raises the WinMLError of a failed completion; does nothing for others."""
        if self.error_code:
            raise failure(self.error_code, self._sentence, "chat completion")


class ChatCompletionStream(StreamObject, Iterator[ChatCompletionEvent]):
    """One completion; it advances only while it is read."""

    _result: Optional[ChatCompletionResult] = None

    def read_next(self) -> Optional[ChatCompletionEvent]:
        """The next event; None at the end. Other Python threads go on meanwhile."""
        status, event = ctypes.c_int32(), ctypes.c_void_p()
        self._native.call("ReadNext", ctypes.byref(status), ctypes.byref(event))
        if status.value == _COMPLETED or not event.value:
            return None
        return _event(Reference(event.value, "IWinMLConversationOutputEvent"))

    @property
    def result(self) -> ChatCompletionResult:
        """What came out, once the stream was read to its end."""
        native = self._native
        if self._result is None:
            made = native.create("GetResult", "IWinMLChatCompletionResult")
            self._result = ChatCompletionResult._adopt(made)
        return self._result

    @property
    def format_result_interface(self) -> NativeInterface:
        return NativeInterface._adopt(self._native.create("GetFormatResult", "IWinMLConversationFormatResult"))

    @property
    def output_parser_interface(self) -> NativeInterface:
        return NativeInterface._adopt(self._native.create("GetOutputParser", "IWinMLConversationOutputParser"))

    @property
    def constraint_interface(self) -> Optional[NativeInterface]:
        found = self._constraint()
        return None if found is None else NativeInterface._adopt(found)

    @property
    def constraint(self) -> Optional[TokenConstraint]:
        """What shapes the answer; None when the request asks for no shape."""
        found = self._constraint()
        return None if found is None else TokenConstraint._adopt(found)

    @property
    def text_generation_stream_interface(self) -> NativeInterface:
        made = self._native.create("GetTextGenerationStream", "IWinMLTextGenerationPullStream")
        return NativeInterface._adopt(made)

    def _constraint(self) -> Optional[Reference]:
        presence, constraint = ctypes.c_int32(), ctypes.c_void_p()
        self._native.call("GetConstraint", ctypes.byref(presence), ctypes.byref(constraint))
        return Reference(constraint.value, "IWinMLTokenConstraint") if constraint.value else None

    def close(self) -> None:
        super().close()
        self._result = None

    def __iter__(self) -> ChatCompletionStream:
        return self

    def __next__(self) -> ChatCompletionEvent:
        event = self.read_next()
        if event is None:
            raise StopIteration
        return event


def _finish(stream: ChatCompletionStream) -> ChatCompletionResult:
    with stream:
        for _ in stream:
            pass
        return stream.result


class ChatCompletionSession(EndingObject):
    """Completes conversations; the caller keeps the history and sends all of it each time."""

    _text_session: Optional[TextGenerationSession] = None

    @property
    def runtime(self) -> Runtime:
        self._native
        return self._tasks.runtime

    @property
    def text_generation_session(self) -> TextGenerationSession:
        """The session below, which its own owner closes."""
        self._native
        assert self._text_session is not None  # until close()
        return self._text_session

    @property
    def media_encoder(self) -> Optional[MediaEncoder]:
        found = self._native.create_or_none("GetMediaEncoder", "IWinMLMediaEncoder")
        return None if found is None else MediaEncoder._of(found, self._tasks.runtime_context)

    @media_encoder.setter
    def media_encoder(self, encoder: Optional[MediaEncoder]) -> None:
        native = None if encoder is None else reference_of(encoder, MediaEncoder, "encoder")
        self._native.call("SetMediaEncoder", native)

    def stream(
        self,
        request: ChatCompletionRequest,
        options: Optional[TextGenerationOptions] = None,
        *,
        cancellation: Optional[CancellationSource] = None,
    ) -> ChatCompletionStream:
        return self._start("Generate", request, (), options, cancellation)

    def generate(
        self,
        request: ChatCompletionRequest,
        options: Optional[TextGenerationOptions] = None,
        *,
        cancellation: Optional[CancellationSource] = None,
    ) -> ChatCompletionResult:
        """The whole answer at once."""
        return _finish(self.stream(request, options, cancellation=cancellation))

    def stream_with_media(
        self,
        request: ChatCompletionRequest,
        bindings: Iterable[ChatMediaBinding],
        options: Optional[TextGenerationOptions] = None,
        *,
        cancellation: Optional[CancellationSource] = None,
    ) -> ChatCompletionStream:
        """`stream` with a tensor for each image part; needs a media encoder."""
        checked = check.instances(bindings, ChatMediaBinding, "bindings")
        array, kept = (struct("WINML_CHAT_MEDIA_BINDING") * len(checked))(), []
        for target, binding in zip(array, checked):
            tensor = reference_of(binding.tensor, Tensor, "tensor")
            kept.append(tensor)
            target.messageIndex, target.contentPartIndex = binding.message_index, binding.content_part_index
            target.tensor = tensor.address
        stream = self._start("GenerateWithMedia", request, (len(checked), array), options, cancellation)
        del kept  # what the array points to
        return stream

    def generate_with_media(
        self,
        request: ChatCompletionRequest,
        bindings: Iterable[ChatMediaBinding],
        options: Optional[TextGenerationOptions] = None,
        *,
        cancellation: Optional[CancellationSource] = None,
    ) -> ChatCompletionResult:
        return _finish(self.stream_with_media(request, bindings, options, cancellation=cancellation))

    def close(self) -> None:
        super().close()
        self._text_session = None

    def _start(
        self,
        method: str,
        request: ChatCompletionRequest,
        arguments: Tuple[Any, ...],
        options: Optional[TextGenerationOptions],
        cancellation: Optional[CancellationSource],
    ) -> ChatCompletionStream:
        native = native_request(check.instance(request, ChatCompletionRequest, "request"))
        wanted = native_options(self._tasks.text_factory(), options)
        source = self._tasks.source(cancellation)
        made = self._native.create(method, _STREAM, ctypes.byref(native), *arguments, wanted, source)
        return ChatCompletionStream._reading(made, self._tasks, source)


class ChatCompletionTask(TaskObject):
    """A tokenizer with a chat template; makes sessions, and keeps one of its own for the short ways."""

    _tokenizer: Tokenizer
    _default_text_session: Optional[TextGenerationSession] = None
    _default_session: Optional[ChatCompletionSession] = None

    @property
    def runtime(self) -> Runtime:
        self._native
        return self._tasks.runtime

    @property
    def tokenizer(self) -> Tokenizer:
        self._native
        return self._tokenizer

    def create_session(self, text_generation_session: TextGenerationSession) -> ChatCompletionSession:
        """A session on one of the same runtime and tokenizer, on that one's thread."""
        below = reference_of(text_generation_session, TextGenerationSession, "text_generation_session")
        made = self._native.create("CreateSession", "IWinMLChatCompletionSession", below)
        session = ChatCompletionSession._in(made, self._tasks)
        session._text_session = text_generation_session
        return session

    @property
    def default_session(self) -> ChatCompletionSession:
        """Made on the default text session at the first use; close() of the task closes it."""
        self._native
        if self._default_session is None:
            if self._default_text_session is None:
                raise WinMLError(_E_NOT_VALID_STATE, "the task was made without a default text session")
            self._default_session = self.create_session(self._default_text_session)
        return self._default_session

    def stream(
        self,
        request: ChatCompletionRequest,
        options: Optional[TextGenerationOptions] = None,
        *,
        cancellation: Optional[CancellationSource] = None,
    ) -> ChatCompletionStream:
        return self.default_session.stream(request, options, cancellation=cancellation)

    def generate(
        self,
        request: ChatCompletionRequest,
        options: Optional[TextGenerationOptions] = None,
        *,
        cancellation: Optional[CancellationSource] = None,
    ) -> ChatCompletionResult:
        """The whole answer at once."""
        return self.default_session.generate(request, options, cancellation=cancellation)

    def stream_with_media(
        self,
        request: ChatCompletionRequest,
        bindings: Iterable[ChatMediaBinding],
        options: Optional[TextGenerationOptions] = None,
        *,
        cancellation: Optional[CancellationSource] = None,
    ) -> ChatCompletionStream:
        return self.default_session.stream_with_media(request, bindings, options, cancellation=cancellation)

    def generate_with_media(
        self,
        request: ChatCompletionRequest,
        bindings: Iterable[ChatMediaBinding],
        options: Optional[TextGenerationOptions] = None,
        *,
        cancellation: Optional[CancellationSource] = None,
    ) -> ChatCompletionResult:
        return self.default_session.generate_with_media(request, bindings, options, cancellation=cancellation)

    def close(self) -> None:
        if self._default_session is not None:
            self._default_session.close()
        self._default_session = self._default_text_session = None
        super().close()


def make_chat_task(
    native: Reference, tasks: TaskContext, tokenizer: Tokenizer, session: Optional[TextGenerationSession]
) -> ChatCompletionTask:
    task = ChatCompletionTask._in(native, tasks)
    task._tokenizer, task._default_text_session = tokenizer, session
    return task


def _tool_call(native: Reference, index: int) -> ChatCompletionToolCall:
    found = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    native.call("GetToolCall", index, *map(ctypes.byref, found))
    identity, name, arguments = (ctypes.wstring_at(one.value) if one.value else "" for one in found)
    return ChatCompletionToolCall(identity, name, arguments)


def _event(native: Reference) -> ChatCompletionEvent:
    said = read_event(native)
    first = 0
    ids: Tuple[int, ...] = ()
    provenance = native.try_query("IWinMLChatCompletionEventProvenance")
    if provenance is not None:
        position, count = ctypes.c_uint32(), ctypes.c_uint32()
        provenance.call("GetSourceTokenRange", ctypes.byref(position), ctypes.byref(count))
        first, ids = position.value, read_ids(provenance, "GetSourceTokenIds")
    return ChatCompletionEvent(
        said.type, said.text, said.tool_call_index, said.call_id, said.tool_name, said.error_code, said.error_message,
        first, ids,
    )  # fmt: skip
