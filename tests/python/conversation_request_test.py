# A conversation request as the native struct.
# Run by pytest; needs no library.
"""Every field of a request reaches the native struct, and absent ones stay zero."""

import ctypes

from openwinml import runtime as r
from openwinml._conversation_request import native_request
from openwinml._native.interfaces import struct


def text(address):
    return ctypes.wstring_at(address) if address else None


def items(address, count, name):
    return (struct(name) * count).from_address(address)


def test_smallest_request_adds_the_generation_prompt_and_leaves_the_rest_zero():
    native = native_request(r.ChatCompletionRequest((r.ChatCompletionMessage("user", "Hi"),)))
    expected = struct("WINML_CONVERSATION_REQUEST")()
    expected.messageCount, expected.messages, expected.addGenerationPrompt = 1, native.messages, 1
    assert bytes(native) == bytes(expected)
    (message,) = items(native.messages, 1, "WINML_CONVERSATION_MESSAGE")
    assert (text(message.role), text(message.content)) == ("user", "Hi")
    assert (message.reasoningContent, message.toolCallCount, message.toolCalls, message.contentPartCount) == (
        None,
        0,
        None,
        0,
    )


def test_full_request_keeps_every_field():
    kinds = r.ChatCompletionTemplateValueType
    request = r.ChatCompletionRequest(
        messages=[
            r.ChatCompletionMessage(
                "assistant",
                None,
                "why",
                [r.ChatCompletionToolCall("c1", "f", "{}", "n1", "{1}")],
                "t1",
                "tn",
                [r.ChatCompletionContentPart("text", "part 🌍", "null", "n2", "{2}")],
                "n3",
                "{3}",
            ),
        ],
        tools=[r.ChatCompletionTool("f", '{"type":"object"}', "does", "function", "n4", "{4}")],
        formatter_mode=r.ChatCompletionFormatterMode.PORTABLE_JINJA_V1,
        tool_choice=r.ChatCompletionToolChoice.NAMED,
        named_tool_choice="f",
        parallel_tool_calls=r.ChatCompletionParallelToolCalls.DISABLED,
        add_generation_prompt=False,
        continuation=r.ChatCompletionContinuation.CONTENT,
        response_format=r.ChatCompletionResponseFormat.JSON_SCHEMA,
        response_schema_name="n",
        response_schema_description="d",
        response_schema_json="{}",
        response_schema_strict=True,
        template_values=[
            r.ChatCompletionTemplateValue("b", kinds.BOOLEAN, True),
            r.ChatCompletionTemplateValue("i", kinds.INTEGER, -5),
            r.ChatCompletionTemplateValue("d", kinds.DOUBLE, 1.5),
            r.ChatCompletionTemplateValue("s", kinds.STRING, "x"),
            r.ChatCompletionTemplateValue("j", kinds.JSON, "[]"),
        ],
        timestamp_unix_seconds=1_700_000_000,
        time_zone_offset_minutes=-90,
        enable_thinking=r.ChatCompletionEnableThinking.ENABLED,
        extensions_json="{5}",
    )
    native = native_request(request)
    assert (native.formatterMode, native.toolChoice, native.parallelToolCalls, native.addGenerationPrompt) == (
        1,
        3,
        1,
        0,
    )
    assert (native.continuation, native.responseFormat, native.responseSchemaStrict, native.enableThinking) == (
        2,
        2,
        1,
        2,
    )
    assert [
        text(getattr(native, name))
        for name in (
            "namedToolChoice",
            "responseSchemaName",
            "responseSchemaDescription",
            "responseSchemaJson",
            "extensionsJson",
        )
    ] == ["f", "n", "d", "{}", "{5}"]
    assert (native.hasTimestamp, native.timestampUnixSeconds) == (1, 1_700_000_000)
    assert (native.hasTimeZoneOffset, native.timeZoneOffsetMinutes) == (1, -90)
    (message,) = items(native.messages, native.messageCount, "WINML_CONVERSATION_MESSAGE")
    assert message.content is None and text(message.reasoningContent) == "why"
    assert [
        text(value) for value in (message.toolCallId, message.toolName, message.modelNativeId, message.extensionsJson)
    ] == ["t1", "tn", "n3", "{3}"]
    (call,) = items(message.toolCalls, message.toolCallCount, "WINML_CONVERSATION_TOOL_CALL")
    assert [text(getattr(call, name)) for name, _ in call._fields_] == ["c1", "f", "{}", "n1", "{1}"]
    (part,) = items(message.contentParts, message.contentPartCount, "WINML_CONVERSATION_CONTENT_PART")
    assert [text(getattr(part, name)) for name, _ in part._fields_] == ["text", "part 🌍", "null", "n2", "{2}"]
    (tool,) = items(native.tools, native.toolCount, "WINML_CONVERSATION_TOOL")
    assert [text(getattr(tool, name)) for name, _ in tool._fields_] == [
        "f",
        "does",
        '{"type":"object"}',
        "function",
        "n4",
        "{4}",
    ]
    values = items(native.templateValues, native.templateValueCount, "WINML_CONVERSATION_TEMPLATE_VALUE")
    assert [(text(one.name), one.type) for one in values] == [("b", 0), ("i", 1), ("d", 2), ("s", 3), ("j", 4)]
    assert (values[0].booleanValue, values[1].integerValue, values[2].doubleValue) == (1, -5, 1.5)
    assert (text(values[3].stringValue), values[3].jsonValue, text(values[4].jsonValue)) == ("x", None, "[]")
