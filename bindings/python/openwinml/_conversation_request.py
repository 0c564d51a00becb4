# A conversation request as the native struct, with everything it points to.
# Used by the tokenizer's formatter and by chat completion.
"""From ChatCompletionRequest to WINML_CONVERSATION_REQUEST."""

from __future__ import annotations

import ctypes
from typing import Any, List, Optional, Sequence

from ._conversation_values import (
    ChatCompletionContentPart,
    ChatCompletionMessage,
    ChatCompletionRequest,
    ChatCompletionTemplateValue,
    ChatCompletionTemplateValueType,
    ChatCompletionTool,
    ChatCompletionToolCall,
)
from ._native.interfaces import struct


def native_request(request: ChatCompletionRequest) -> Any:
    """A WINML_CONVERSATION_REQUEST that owns everything it points to."""
    return _Filler(request).target


class _Filler:
    """Fills a request struct and collects what it points to."""

    def __init__(self, request: ChatCompletionRequest) -> None:
        self._kept: List[Any] = []
        target = self.target = struct("WINML_CONVERSATION_REQUEST")()
        target.keep = self._kept
        target.formatterMode = request.formatter_mode
        target.messageCount, target.messages = self._array(
            request.messages, "WINML_CONVERSATION_MESSAGE", self._message
        )
        target.toolCount, target.tools = self._array(request.tools, "WINML_CONVERSATION_TOOL", self._tool)
        target.toolChoice = request.tool_choice
        target.namedToolChoice = self._text(request.named_tool_choice)
        target.parallelToolCalls = request.parallel_tool_calls
        target.addGenerationPrompt = request.add_generation_prompt
        target.continuation = request.continuation
        target.responseFormat = request.response_format
        target.responseSchemaName = self._text(request.response_schema_name)
        target.responseSchemaDescription = self._text(request.response_schema_description)
        target.responseSchemaJson = self._text(request.response_schema_json)
        target.responseSchemaStrict = request.response_schema_strict
        target.templateValueCount, target.templateValues = self._array(
            request.template_values, "WINML_CONVERSATION_TEMPLATE_VALUE", self._template_value
        )
        if request.timestamp_unix_seconds is not None:
            target.hasTimestamp, target.timestampUnixSeconds = 1, request.timestamp_unix_seconds
        if request.time_zone_offset_minutes is not None:
            target.hasTimeZoneOffset, target.timeZoneOffsetMinutes = 1, request.time_zone_offset_minutes
        target.enableThinking = request.enable_thinking
        target.extensionsJson = self._text(request.extensions_json)

    def _text(self, value: Optional[str]) -> Optional[int]:
        if value is None:
            return None
        buffer = ctypes.create_unicode_buffer(value)
        self._kept.append(buffer)
        return ctypes.addressof(buffer)

    def _array(self, records: Sequence[Any], name: str, fill: Any) -> Any:
        if not records:
            return 0, None
        array = (struct(name) * len(records))()
        self._kept.append(array)
        for target, record in zip(array, records):
            fill(target, record)
        return len(records), ctypes.addressof(array)

    def _message(self, target: Any, message: ChatCompletionMessage) -> None:
        target.role = self._text(message.role)
        target.content = self._text(message.content)
        target.reasoningContent = self._text(message.reasoning_content)
        target.toolCallCount, target.toolCalls = self._array(
            message.tool_calls, "WINML_CONVERSATION_TOOL_CALL", self._tool_call
        )
        target.toolCallId = self._text(message.tool_call_id)
        target.toolName = self._text(message.tool_name)
        target.contentPartCount, target.contentParts = self._array(
            message.content_parts, "WINML_CONVERSATION_CONTENT_PART", self._content_part
        )
        self._extras(target, message)

    def _tool_call(self, target: Any, call: ChatCompletionToolCall) -> None:
        target.id, target.name = self._text(call.id), self._text(call.name)
        target.argumentsJson = self._text(call.arguments_json)
        self._extras(target, call)

    def _content_part(self, target: Any, part: ChatCompletionContentPart) -> None:
        target.type, target.text, target.jsonValue = map(self._text, (part.type, part.text, part.json_value))
        self._extras(target, part)

    def _tool(self, target: Any, tool: ChatCompletionTool) -> None:
        target.name, target.description = self._text(tool.name), self._text(tool.description)
        target.parametersJson, target.type = self._text(tool.parameters_json), self._text(tool.type)
        self._extras(target, tool)

    def _extras(self, target: Any, record: Any) -> None:
        target.modelNativeId = self._text(record.model_native_id)
        target.extensionsJson = self._text(record.extensions_json)

    def _template_value(self, target: Any, value: ChatCompletionTemplateValue) -> None:
        kinds = ChatCompletionTemplateValueType
        target.name, target.type = self._text(value.name), value.type
        if value.type == kinds.BOOLEAN:
            target.booleanValue = value.value
        elif value.type == kinds.INTEGER:
            target.integerValue = value.value
        elif value.type == kinds.DOUBLE:
            target.doubleValue = value.value
        elif value.type == kinds.STRING:
            target.stringValue = self._text(str(value.value))
        else:
            target.jsonValue = self._text(str(value.value))
