# Immutable records of openwinml.tasks: what generations and completions tell, and what goes in besides options.
# Used by the modules of this folder and by applications.
"""Records of text generation and chat completion."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Iterable, Optional, Tuple

from .. import _arguments as check
from .._conversation_values import ChatCompletionEventType
from .._native.errors import failure
from ..runtime import Pipeline, SequenceSegmentLayout, Stage, Tensor
from ._enums import (
    ChatCompletionPromptCacheMode,
    TextGenerationExecutionProfile,
    TextGenerationFinishReason,
    TextGenerationOutputKind,
    TextGenerationSegmentKind,
    TextGenerationSequenceDisclosure,
    TextGenerationSessionState,
    TextGenerationSpeculativeMethod,
)


@dataclasses.dataclass(frozen=True)
class TextGenerationSequenceState:
    """What a session keeps of its last sequence."""

    disclosure: TextGenerationSequenceDisclosure
    session_state: TextGenerationSessionState
    evaluated_token_count: int
    retained_token_count: int


@dataclasses.dataclass(frozen=True)
class TextGenerationCapabilities:
    """What a session can do, and its state at that moment."""

    execution_profile: TextGenerationExecutionProfile
    output_kind: TextGenerationOutputKind
    supports_continuation: bool
    supports_constraints: bool
    supports_segmented_prompts: bool
    supports_embedding_segments: bool
    supports_constrained_continuation: bool
    supports_constrained_embedding_segments: bool
    sequence_state: TextGenerationSequenceState


@dataclasses.dataclass(frozen=True)
class TextGenerationSegment:
    """One run of a mixed prompt: tokens, or the embeddings and the layout of one encoded medium."""

    kind: TextGenerationSegmentKind
    token_ids: Tuple[int, ...] = ()
    embedding_tensor: Optional[Tensor] = None
    layout: Optional[SequenceSegmentLayout] = None

    def __post_init__(self) -> None:
        kind = check.member(TextGenerationSegmentKind, self.kind, "kind")
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "token_ids", check.integers(self.token_ids, "token_ids"))
        if kind == TextGenerationSegmentKind.TOKENS:
            if not self.token_ids or self.embedding_tensor is not None or self.layout is not None:
                raise ValueError("a segment of tokens has token_ids and nothing else")
        else:
            if self.token_ids:
                raise ValueError("a segment of embeddings has no token_ids")
            check.instance(self.embedding_tensor, Tensor, "embedding_tensor")
            check.instance(self.layout, SequenceSegmentLayout, "layout")

    @staticmethod
    def from_tokens(token_ids: Iterable[int]) -> TextGenerationSegment:
        return TextGenerationSegment(TextGenerationSegmentKind.TOKENS, check.integers(token_ids, "token_ids"))

    @staticmethod
    def from_embeddings(embeddings: Tensor, layout: SequenceSegmentLayout) -> TextGenerationSegment:
        return TextGenerationSegment(TextGenerationSegmentKind.EMBEDDINGS, (), embeddings, layout)


@dataclasses.dataclass(frozen=True)
class TextGenerationUpdate:
    """A token and the text that it completes, which may be empty."""

    token_id: int
    fragment: str


@dataclasses.dataclass(frozen=True)
class TextGenerationSpeculativeStatistics:
    method: TextGenerationSpeculativeMethod
    verification_step_count: int
    draft_token_count: int
    accepted_draft_token_count: int

    @property
    def acceptance_rate(self) -> float:
        """Accepted among all draft tokens; 0 without any."""
        return self.accepted_draft_token_count / self.draft_token_count if self.draft_token_count else 0.0


@dataclasses.dataclass(frozen=True)
class TextGenerationResult:
    """What a finished generation produced; the fragments of its stream joined are the text."""

    text: str
    token_ids: Tuple[int, ...]
    finish_reason: TextGenerationFinishReason
    error_code: int
    prompt_token_count: int
    speculative_statistics: Optional[TextGenerationSpeculativeStatistics] = None

    _sentence: ClassVar[Optional[str]] = None  # of the error, in failed ones

    @property
    def generated_token_count(self) -> int:
        return len(self.token_ids)

    def raise_for_error(self) -> None:
        """Raises the WinMLError of a failed generation; does nothing for others."""
        if self.error_code:
            raise failure(self.error_code, self._sentence, "text generation")


@dataclasses.dataclass(frozen=True)
class TextGenerationPhaseBinding:
    """Where tokens go into a pipeline and where its output comes out."""

    pipeline: Pipeline
    token_input_stage: Stage
    token_input_index: int
    output_stage: Stage
    output_index: int
    output_kind: TextGenerationOutputKind


@dataclasses.dataclass(frozen=True)
class ChatMediaBinding:
    """The pixels of one image part of a conversation; both indices start at 0."""

    message_index: int
    content_part_index: int
    tensor: Tensor

    def __post_init__(self) -> None:
        for name in ("message_index", "content_part_index"):
            object.__setattr__(self, name, check.unsigned(getattr(self, name), name))
        check.instance(self.tensor, Tensor, "tensor")


@dataclasses.dataclass(frozen=True)
class ChatCompletionEvent:
    """A piece of the answer and the generated tokens it came from; which fields are set depends on the type."""

    type: ChatCompletionEventType
    text: Optional[str]
    tool_call_index: Optional[int]
    call_id: Optional[str]
    tool_name: Optional[str]
    error_code: Optional[int]
    error_message: Optional[str]
    first_token_index: int
    source_token_ids: Tuple[int, ...]

    @property
    def source_token_count(self) -> int:
        return len(self.source_token_ids)

    def raise_for_error(self) -> None:
        """Raises the WinMLError of an ERROR event; does nothing for others."""
        if self.type == ChatCompletionEventType.ERROR:
            raise failure(self.error_code or 0x80004005, self.error_message, "chat completion")


@dataclasses.dataclass(frozen=True)
class ChatCompletionPromptCacheUse:
    """How the prompt was met: what was still there and what was evaluated; together they are the prompt."""

    mode: ChatCompletionPromptCacheMode
    prompt_token_count: int
    cached_prompt_token_count: int
    prefilled_prompt_token_count: int


def with_sentence(record: Any, sentence: Optional[str]) -> Any:
    """The record of a failure, with the library's words for raise_for_error."""
    object.__setattr__(record, "_sentence", sentence)
    return record
