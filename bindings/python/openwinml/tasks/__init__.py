# Public names of openwinml.tasks.
# Imported by applications.
"""Tasks on top of the runtime, and the values of conversations."""

from .._conversation_values import (
    ChatCompletionContentPart,
    ChatCompletionContinuation,
    ChatCompletionEnableThinking,
    ChatCompletionEventType,
    ChatCompletionFormatterMode,
    ChatCompletionMessage,
    ChatCompletionParallelToolCalls,
    ChatCompletionRequest,
    ChatCompletionResponseFormat,
    ChatCompletionTemplateValue,
    ChatCompletionTemplateValueType,
    ChatCompletionTool,
    ChatCompletionToolCall,
    ChatCompletionToolChoice,
    ChatRole,
)
from ._cancellation import CancellationSource
from ._tasks import Tasks

__all__ = [
    "CancellationSource",
    "ChatCompletionContentPart",
    "ChatCompletionContinuation",
    "ChatCompletionEnableThinking",
    "ChatCompletionEventType",
    "ChatCompletionFormatterMode",
    "ChatCompletionMessage",
    "ChatCompletionParallelToolCalls",
    "ChatCompletionRequest",
    "ChatCompletionResponseFormat",
    "ChatCompletionTemplateValue",
    "ChatCompletionTemplateValueType",
    "ChatCompletionTool",
    "ChatCompletionToolCall",
    "ChatCompletionToolChoice",
    "ChatRole",
    "Tasks",
]
