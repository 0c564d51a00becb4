# Tokenizers: text to ids and back, and conversations by the model's own template.
# Made by Tokenizer.from_file; needs no Runtime.
"""Tokenizer and TokenizerDecoder."""

from __future__ import annotations

import ctypes
from typing import Any, List, Optional, Sequence, SupportsIndex, Tuple

from .. import _arguments as check
from .._conversation_request import native_request
from .._conversation_values import ChatCompletionRequest
from .._native import library
from .._native.interfaces import struct
from .._native.memory import take_text, take_unsigned_array, unsigned_array
from .._native.reference import Reference, create_by_export
from .._native.wrapper import NativeObject, reference_of
from ._constraint import ConstraintVocabularyIdentity, TokenConstraint, read_identity
from ._conversation import ConversationFormatResult

_NO_FLAGS = 0
_ADD_SPECIAL_TOKENS = 1
_S_FALSE = 1


class TokenizerDecoder(NativeObject):
    """Turns tokens into text one by one; a piece may be empty until a character is complete."""

    def decode_token(self, token_id: SupportsIndex) -> str:
        return self._native.text("DecodeToken", check.unsigned(token_id, "token_id")) or ""

    def reset(self) -> None:
        """Starts a new text."""
        self._native.call("Reset")


class Tokenizer(NativeObject):
    @staticmethod
    def from_file(path: str) -> Tokenizer:
        """The tokenizer of a GGUF model, of a tokenizer.json, or of the folder that holds one."""
        where = ctypes.create_unicode_buffer(check.path(path, "path"))
        create = library.function(library.tokenizer(), "WinMLCreateTokenizerFromFile", 2)
        name = "WinMLCreateTokenizerFromFile"
        return Tokenizer._adopt(create_by_export(create, name, "IWinMLTokenizer", where))

    @property
    def bos_token_id(self) -> Optional[int]:
        """The token that begins a text; None if the vocabulary has none."""
        token = ctypes.c_uint32()
        code = self._interface("IWinMLTokenizerMetadata").call("GetBosTokenId", ctypes.byref(token))
        return None if code == _S_FALSE else token.value

    @property
    def eos_token_ids(self) -> List[int]:
        """The tokens that end an answer."""
        return _owned_ids(self._interface("IWinMLTokenizerMetadata"), "GetEosTokenIds")

    def encode(self, text: str, add_special_tokens: bool = True) -> List[int]:
        flags = _ADD_SPECIAL_TOKENS if check.flag(add_special_tokens, "add_special_tokens") else _NO_FLAGS
        return _owned_ids(self._native, "Encode", check.text(text, "text"), flags)

    def decode(self, tokens: Sequence[SupportsIndex]) -> str:
        """The text of tokens, special ones included."""
        ids = check.integers(tokens, "tokens")
        text = ctypes.c_void_p()
        self._native.call("Decode", unsigned_array(ids), len(ids), _NO_FLAGS, ctypes.byref(text))
        return take_text(text.value)

    def encode_conversation(self, messages: Sequence[Tuple[str, str]], add_generation_prompt: bool = True) -> List[int]:
        """The prompt of (role, content) messages; NotSupportedError when the model has no chat template."""
        array, kept = _messages(messages)
        prompt = check.flag(add_generation_prompt, "add_generation_prompt")
        formatter = self._interface("IWinMLConversationFormatter")
        found = _owned_ids(formatter, "EncodeConversation", len(array), array, prompt)
        del kept  # the strings that the array points to
        return found

    def create_decoder(self) -> TokenizerDecoder:
        return TokenizerDecoder._adopt(self._native.create("CreateDecoder", "IWinMLTokenizerDecoder"))

    def format_conversation(self, request: ChatCompletionRequest) -> ConversationFormatResult:
        """The prompt of a whole request, with tools, schemas and template values."""
        native = native_request(check.instance(request, ChatCompletionRequest, "request"))
        formatter = self._interface("IWinMLStructuredConversationFormatter")
        arguments = ("FormatConversation", "IWinMLConversationFormatResult", ctypes.byref(native))
        return ConversationFormatResult._adopt(formatter.create(*arguments))

    @property
    def vocabulary_identity(self) -> ConstraintVocabularyIdentity:
        return read_identity(self._interface("IWinMLTokenizerConstraintFactory"))

    def create_constraint(self, format_result: ConversationFormatResult) -> TokenConstraint:
        """The grammar of a formatted request, at its start; NotSupportedError when the request has none."""
        result = reference_of(format_result, ConversationFormatResult, "format_result")
        factory = self._interface("IWinMLTokenizerConstraintFactory")
        return TokenConstraint._adopt(factory.create("CreateConstraint", "IWinMLTokenConstraint", result))


def _owned_ids(native: Reference, method: str, *arguments: Any) -> List[int]:
    count, ids = ctypes.c_uint32(), ctypes.c_void_p()
    native.call(method, *arguments, ctypes.byref(count), ctypes.byref(ids))
    return take_unsigned_array(ids.value, count.value)


def _messages(messages: Any) -> Tuple[Any, List[Any]]:
    if isinstance(messages, (str, bytes)) or not hasattr(messages, "__iter__"):
        raise TypeError(f"messages must be a sequence of (role, content), not {type(messages).__name__}")
    pairs = list(messages)
    array, kept = (struct("WINML_CHAT_MESSAGE") * len(pairs))(), []
    for index, pair in enumerate(pairs):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"messages[{index}] must be (role, content), not {pair!r}")
        for field, value in zip(("role", "content"), pair):
            text = ctypes.create_unicode_buffer(check.text(value, f"{field} of messages[{index}]"))
            kept.append(text)
            setattr(array[index], field, ctypes.addressof(text))
    return array, kept
