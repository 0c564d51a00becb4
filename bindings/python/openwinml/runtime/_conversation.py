# A formatted conversation, its output parser and the events it reads.
# Made by Tokenizer.format_conversation.
"""ConversationFormatResult, ConversationOutputParser and their records."""

from __future__ import annotations

import ctypes
import dataclasses
from typing import TYPE_CHECKING, Optional, Tuple

from .. import _arguments as check
from .._conversation_values import ChatCompletionContinuation, ChatCompletionEventType
from .._native.errors import failure
from .._native.memory import take_unsigned_array
from .._native.reference import Reference
from .._native.wrapper import NativeObject
from ._enums import ConversationConstraintTriggerType, ConversationParserCapabilities

if TYPE_CHECKING:
    from ._tokenizer import Tokenizer


@dataclasses.dataclass(frozen=True)
class ConversationImplementationIdentity:
    """Which formatter, parser and template made a result, and in which version."""

    identity: str
    version: int


@dataclasses.dataclass(frozen=True)
class ConversationGenerationPromptMetadata:
    added: bool
    continuation: ChatCompletionContinuation


@dataclasses.dataclass(frozen=True)
class ConversationConstraint:
    """The grammar that the model's output must follow; a lazy one waits for a trigger."""

    syntax: str
    syntax_version: int
    lazy: bool
    value: str


@dataclasses.dataclass(frozen=True)
class ConversationConstraintTrigger:
    type: ConversationConstraintTriggerType
    token_id: Optional[int]
    value: str


@dataclasses.dataclass(frozen=True)
class ConversationPreservedToken:
    token_id: Optional[int]
    text: str


@dataclasses.dataclass(frozen=True)
class ConversationOutputEvent:
    """A piece of parsed output; which fields are set depends on the type."""

    type: ChatCompletionEventType
    text: Optional[str] = None
    tool_call_index: Optional[int] = None
    call_id: Optional[str] = None
    tool_name: Optional[str] = None
    error_code: Optional[int] = None
    error_message: Optional[str] = None

    def raise_for_error(self) -> None:
        """Raises the WinMLError of an ERROR event; does nothing for others."""
        if self.type == ChatCompletionEventType.ERROR:
            raise failure(self.error_code or 0x80004005, self.error_message, "the model's output")


_TEXT = (
    ChatCompletionEventType.CONTENT_DELTA,
    ChatCompletionEventType.REASONING_DELTA,
    ChatCompletionEventType.TOOL_ARGUMENTS_DELTA,
)
_TOOL_CALL = (
    ChatCompletionEventType.TOOL_CALL_START,
    ChatCompletionEventType.TOOL_ARGUMENTS_DELTA,
    ChatCompletionEventType.TOOL_CALL_END,
)


def read_event(native: Reference) -> ConversationOutputEvent:
    """An IWinMLConversationOutputEvent as a record."""
    kind = ChatCompletionEventType(native.get("GetType", ctypes.c_int32))
    text = native.text("GetText") or "" if kind in _TEXT else None
    index = call_id = tool_name = code = message = None
    if kind in _TOOL_CALL:
        index = native.get("GetToolCallIndex", ctypes.c_uint32)
        call_id, tool_name = native.text("GetCallId"), native.text("GetToolName")
    if kind == ChatCompletionEventType.ERROR:
        found, sentence = ctypes.c_int32(), ctypes.c_void_p()
        native.call("GetError", ctypes.byref(found), ctypes.byref(sentence))
        code = found.value & 0xFFFFFFFF
        message = ctypes.wstring_at(sentence.value) if sentence.value else None
    return ConversationOutputEvent(kind, text, index, call_id, tool_name, code, message)


class ConversationOutputParser(NativeObject):
    """Splits generated text into content, reasoning and tool calls."""

    def append(self, text: str) -> None:
        self._native.call("Append", check.text(text, "text"))

    def flush(self) -> None:
        """Says that the output has ended."""
        self._native.call("Flush")

    def read_event(self) -> Optional[ConversationOutputEvent]:
        """The next event; None when there is none yet."""
        status, event = ctypes.c_int32(), ctypes.c_void_p()
        self._native.call("ReadEvent", ctypes.byref(status), ctypes.byref(event))
        return read_event(Reference(event.value, "IWinMLConversationOutputEvent")) if event.value else None

    def reset(self) -> None:
        self._native.call("Reset")


class ConversationFormatResult(NativeObject):
    """The prompt of a conversation and what is needed to read the answer."""

    @property
    def token_ids(self) -> Tuple[int, ...]:
        count, ids = ctypes.c_uint32(), ctypes.c_void_p()
        self._native.call("GetTokenIds", ctypes.byref(count), ctypes.byref(ids))
        return tuple(take_unsigned_array(ids.value, count.value))

    @property
    def implementation_identity(self) -> ConversationImplementationIdentity:
        identity, version = ctypes.c_void_p(), ctypes.c_uint32()
        self._native.call("GetImplementationIdentity", ctypes.byref(identity), ctypes.byref(version))
        return ConversationImplementationIdentity(_text(identity), version.value)

    @property
    def generation_prompt(self) -> str:
        """The text that was added for the answer; empty if none."""
        return self._native.text("GetGenerationPrompt") or ""

    @property
    def generation_prompt_metadata(self) -> ConversationGenerationPromptMetadata:
        added, continuation = ctypes.c_int32(), ctypes.c_int32()
        self._native.call("GetGenerationPromptMetadata", ctypes.byref(added), ctypes.byref(continuation))
        return ConversationGenerationPromptMetadata(bool(added.value), ChatCompletionContinuation(continuation.value))

    @property
    def additional_stops(self) -> Tuple[str, ...]:
        """Texts that end the answer besides the end tokens."""
        count = self._native.get("GetAdditionalStopCount", ctypes.c_uint32)
        return tuple(self._native.text("GetAdditionalStop", index) or "" for index in range(count))

    @property
    def parser_capabilities(self) -> ConversationParserCapabilities:
        return ConversationParserCapabilities(self._native.get("GetParserCapabilities", ctypes.c_int32))

    @property
    def constraint(self) -> Optional[ConversationConstraint]:
        presence, syntax, version = ctypes.c_int32(), ctypes.c_void_p(), ctypes.c_uint32()
        lazy, value = ctypes.c_int32(), ctypes.c_void_p()
        self._native.call("GetConstraint", *map(ctypes.byref, (presence, syntax, version, lazy, value)))
        if not presence.value:
            return None
        return ConversationConstraint(_text(syntax), version.value, bool(lazy.value), _text(value))

    @property
    def constraint_triggers(self) -> Tuple[ConversationConstraintTrigger, ...]:
        found = []
        for index in range(self._native.get("GetConstraintTriggerCount", ctypes.c_uint32)):
            kind, has_token, token, value = ctypes.c_int32(), ctypes.c_int32(), ctypes.c_uint32(), ctypes.c_void_p()
            self._native.call("GetConstraintTrigger", index, *map(ctypes.byref, (kind, has_token, token, value)))
            token_id = token.value if has_token.value else None
            trigger = ConversationConstraintTriggerType(kind.value)
            found.append(ConversationConstraintTrigger(trigger, token_id, _text(value)))
        return tuple(found)

    @property
    def preserved_tokens(self) -> Tuple[ConversationPreservedToken, ...]:
        """Special tokens that stay in the text that the parser reads."""
        found = []
        for index in range(self._native.get("GetPreservedTokenCount", ctypes.c_uint32)):
            has_token, token, text = ctypes.c_int32(), ctypes.c_uint32(), ctypes.c_void_p()
            self._native.call("GetPreservedToken", index, *map(ctypes.byref, (has_token, token, text)))
            found.append(ConversationPreservedToken(token.value if has_token.value else None, _text(text)))
        return tuple(found)

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that made this result."""
        from ._tokenizer import Tokenizer

        identity = self._interface("IWinMLConversationFormatResultTokenizerIdentity")
        return Tokenizer._adopt(identity.create("GetTokenizer", "IWinMLTokenizer"))

    def create_output_parser(self) -> ConversationOutputParser:
        made = self._native.create("CreateOutputParser", "IWinMLConversationOutputParser")
        return ConversationOutputParser._adopt(made)


def _text(pointer: ctypes.c_void_p) -> str:
    return ctypes.wstring_at(pointer.value) if pointer.value else ""
