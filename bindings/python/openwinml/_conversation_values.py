# What an application says about a conversation: enums and immutable records.
# Offered by openwinml.runtime and by openwinml.tasks under the same names.
"""Values of conversations and of the requests made from them."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, Optional, Tuple, Union

from . import _arguments as check

INT32_MIN, INT32_MAX = -(1 << 31), (1 << 31) - 1
INT64_MIN, INT64_MAX = -(1 << 63), (1 << 63) - 1


class ChatRole:
    """The usual roles; a template may know others, so a role is any string."""

    SYSTEM: str = "system"
    DEVELOPER: str = "developer"
    USER: str = "user"
    ASSISTANT: str = "assistant"
    TOOL: str = "tool"


class ChatCompletionFormatterMode(enum.IntEnum):
    MODEL_DEFAULT = 0
    PORTABLE_JINJA_V1 = 1
    LEGACY_TEMPLATE_V1 = 2


class ChatCompletionToolChoice(enum.IntEnum):
    AUTO = 0
    NONE = 1
    REQUIRED = 2
    NAMED = 3


class ChatCompletionParallelToolCalls(enum.IntEnum):
    MODEL_DEFAULT = 0
    DISABLED = 1
    ENABLED = 2


class ChatCompletionContinuation(enum.IntEnum):
    NONE = 0
    AUTO = 1
    CONTENT = 2
    REASONING = 3


class ChatCompletionTemplateValueType(enum.IntEnum):
    BOOLEAN = 0
    INTEGER = 1
    DOUBLE = 2
    STRING = 3
    JSON = 4


class ChatCompletionEnableThinking(enum.IntEnum):
    MODEL_DEFAULT = 0
    DISABLED = 1
    ENABLED = 2


class ChatCompletionResponseFormat(enum.IntEnum):
    TEXT = 0
    JSON_OBJECT = 1
    JSON_SCHEMA = 2


class ChatCompletionEventType(enum.IntEnum):
    CONTENT_DELTA = 0
    REASONING_DELTA = 1
    TOOL_CALL_START = 2
    TOOL_ARGUMENTS_DELTA = 3
    TOOL_CALL_END = 4
    COMPLETED = 5
    ERROR = 6


def _set(record: Any, **values: Any) -> None:
    """Stores checked values in a frozen record under construction."""
    for name, value in values.items():
        object.__setattr__(record, name, value)


def _check_texts(record: Any, *names: str) -> None:
    for name in names:
        check.optional_text(getattr(record, name), name)


@dataclasses.dataclass(frozen=True)
class ChatCompletionToolCall:
    id: str
    name: str
    arguments_json: str
    model_native_id: Optional[str] = None
    extensions_json: Optional[str] = None

    def __post_init__(self) -> None:
        for name in ("id", "name", "arguments_json"):
            check.text(getattr(self, name), name)
        _check_texts(self, "model_native_id", "extensions_json")


@dataclasses.dataclass(frozen=True)
class ChatCompletionContentPart:
    type: str
    text: Optional[str] = None
    json_value: Optional[str] = None
    model_native_id: Optional[str] = None
    extensions_json: Optional[str] = None

    def __post_init__(self) -> None:
        check.text(self.type, "type", empty=False)
        _check_texts(self, "text", "json_value", "model_native_id", "extensions_json")


@dataclasses.dataclass(frozen=True)
class ChatCompletionMessage:
    role: str
    content: Optional[str] = None
    reasoning_content: Optional[str] = None
    tool_calls: Tuple[ChatCompletionToolCall, ...] = ()
    tool_call_id: Optional[str] = None
    tool_name: Optional[str] = None
    content_parts: Tuple[ChatCompletionContentPart, ...] = ()
    model_native_id: Optional[str] = None
    extensions_json: Optional[str] = None

    def __post_init__(self) -> None:
        check.text(self.role, "role", empty=False)
        _check_texts(
            self, "content", "reasoning_content", "tool_call_id", "tool_name", "model_native_id", "extensions_json"
        )
        _set(
            self,
            tool_calls=check.instances(self.tool_calls, ChatCompletionToolCall, "tool_calls"),
            content_parts=check.instances(self.content_parts, ChatCompletionContentPart, "content_parts"),
        )
        if self.content is not None and self.content_parts:
            raise ValueError("content and content_parts exclude each other")


@dataclasses.dataclass(frozen=True)
class ChatCompletionTool:
    name: str
    parameters_json: str
    description: Optional[str] = None
    type: Optional[str] = None
    model_native_id: Optional[str] = None
    extensions_json: Optional[str] = None

    def __post_init__(self) -> None:
        check.text(self.name, "name", empty=False)
        check.text(self.parameters_json, "parameters_json")
        _check_texts(self, "description", "type", "model_native_id", "extensions_json")


@dataclasses.dataclass(frozen=True)
class ChatCompletionTemplateValue:
    name: str
    type: ChatCompletionTemplateValueType
    value: Union[bool, int, float, str]

    def __post_init__(self) -> None:
        kinds = ChatCompletionTemplateValueType
        check.text(self.name, "name", empty=False)
        kind = check.member(kinds, self.type, "type")
        value: Any
        if kind == kinds.BOOLEAN:
            value = check.flag(self.value, "value")
        elif kind == kinds.INTEGER:
            if isinstance(self.value, bool):
                raise TypeError("value must be an integer, not bool")
            value = check.integer(self.value, "value", INT64_MIN, INT64_MAX)
        elif kind == kinds.DOUBLE:
            if isinstance(self.value, bool):
                raise TypeError("value must be a number, not bool")
            value = check.real(self.value, "value")
        else:
            value = check.text(self.value, "value")
        _set(self, type=kind, value=value)


@dataclasses.dataclass(frozen=True)
class ChatCompletionRequest:
    messages: Tuple[ChatCompletionMessage, ...] = ()
    tools: Tuple[ChatCompletionTool, ...] = ()
    formatter_mode: ChatCompletionFormatterMode = ChatCompletionFormatterMode.MODEL_DEFAULT
    tool_choice: ChatCompletionToolChoice = ChatCompletionToolChoice.AUTO
    named_tool_choice: Optional[str] = None
    parallel_tool_calls: ChatCompletionParallelToolCalls = ChatCompletionParallelToolCalls.MODEL_DEFAULT
    add_generation_prompt: bool = True
    continuation: ChatCompletionContinuation = ChatCompletionContinuation.NONE
    response_format: ChatCompletionResponseFormat = ChatCompletionResponseFormat.TEXT
    response_schema_name: Optional[str] = None
    response_schema_description: Optional[str] = None
    response_schema_json: Optional[str] = None
    response_schema_strict: bool = False
    template_values: Tuple[ChatCompletionTemplateValue, ...] = ()
    timestamp_unix_seconds: Optional[int] = None
    time_zone_offset_minutes: Optional[int] = None
    enable_thinking: ChatCompletionEnableThinking = ChatCompletionEnableThinking.MODEL_DEFAULT
    extensions_json: Optional[str] = None

    def __post_init__(self) -> None:
        _check_texts(
            self, "named_tool_choice", "response_schema_name", "response_schema_description", "response_schema_json",
            "extensions_json",
        )  # fmt: skip
        _set(
            self,
            messages=check.instances(self.messages, ChatCompletionMessage, "messages"),
            tools=check.instances(self.tools, ChatCompletionTool, "tools"),
            template_values=check.instances(self.template_values, ChatCompletionTemplateValue, "template_values"),
            formatter_mode=check.member(ChatCompletionFormatterMode, self.formatter_mode, "formatter_mode"),
            tool_choice=check.member(ChatCompletionToolChoice, self.tool_choice, "tool_choice"),
            parallel_tool_calls=check.member(
                ChatCompletionParallelToolCalls, self.parallel_tool_calls, "parallel_tool_calls"
            ),
            continuation=check.member(ChatCompletionContinuation, self.continuation, "continuation"),
            response_format=check.member(ChatCompletionResponseFormat, self.response_format, "response_format"),
            enable_thinking=check.member(ChatCompletionEnableThinking, self.enable_thinking, "enable_thinking"),
            add_generation_prompt=check.flag(self.add_generation_prompt, "add_generation_prompt"),
            response_schema_strict=check.flag(self.response_schema_strict, "response_schema_strict"),
        )
        if self.timestamp_unix_seconds is not None:
            check.integer(self.timestamp_unix_seconds, "timestamp_unix_seconds", INT64_MIN, INT64_MAX)
        if self.time_zone_offset_minutes is not None:
            check.integer(self.time_zone_offset_minutes, "time_zone_offset_minutes", INT32_MIN, INT32_MAX)
