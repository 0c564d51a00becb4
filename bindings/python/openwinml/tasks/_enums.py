# Enums of openwinml.tasks; the numbers are those of the binary interface, which a test compares.
# Used by every module of this folder and by applications.
"""Enumerations of text generation and chat completion."""

from __future__ import annotations

import enum


class TextGenerationOutputKind(enum.IntEnum):
    LOGITS = 0
    SAMPLED_TOKEN = 1


class TextGenerationDecodeInputMode(enum.IntEnum):
    CALLER_BOUND = 0
    PIPELINE_FEEDBACK = 1


class TextGenerationPipelinePhase(enum.IntEnum):
    UNIFIED = 0
    PREFILL = 1
    DECODE = 2


class TextGenerationConfigurationMode(enum.IntEnum):
    UNIFIED = 0
    PREFILL_DECODE = 1


class TextGenerationExecutionProfile(enum.IntEnum):
    SINGLE_PIPELINE = 0
    PREFILL_DECODE_CALLER_BOUND = 1
    PREFILL_DECODE_PIPELINE_FEEDBACK = 2


class TextGenerationSessionState(enum.IntEnum):
    EMPTY = 0
    READY = 1
    ACTIVE = 2
    RESET_REQUIRED = 3
    CLOSED = 4


class TextGenerationSequenceDisclosure(enum.IntEnum):
    NONE = 0
    RETAINED = 1
    UNUSABLE = 2


class TextGenerationFinishReason(enum.IntEnum):
    EOS_TOKEN = 0
    STOP_TOKEN = 1
    MAX_TOKENS = 2
    SEQUENCE_CAPACITY = 3
    CANCELED = 4
    ERROR = 5


class TextGenerationSegmentKind(enum.IntEnum):
    TOKENS = 0
    EMBEDDINGS = 1


class TextGenerationSpeculativeMethod(enum.IntEnum):
    NONE = 0
    MODEL = 1
    DRAFT_MODEL = 2
    PROMPT_LOOKUP = 3


class ChatCompletionFinishReason(enum.IntEnum):
    EOS_TOKEN = 0
    STOP_TOKEN = 1
    MAX_TOKENS = 2
    SEQUENCE_CAPACITY = 3
    CANCELED = 4
    ERROR = 5
    ADDITIONAL_STOP = 6


class ChatCompletionPromptCacheMode(enum.IntEnum):
    FULL_PREFILL = 0
    REUSED_PREFIX = 1
    NOT_EVALUATED = 2
    UNKNOWN = 3
