# Token constraints: which tokens a grammar allows next.
# Made by Tokenizer.create_constraint.
"""TokenConstraint and its records."""

from __future__ import annotations

import ctypes
import dataclasses
from typing import Any, Sequence, Tuple

from .. import _arguments as check
from .._native.interfaces import struct
from .._native.reference import Reference
from .._native.wrapper import NativeInterface, NativeObject
from ._enums import TokenConstraintStateFlags, TokenConstraintStatus


@dataclasses.dataclass(frozen=True)
class ConstraintVocabularyIdentity:
    """Tells vocabularies apart; equal for equal ones."""

    token_count: int
    sha256: bytes


@dataclasses.dataclass(frozen=True)
class TokenConstraintCandidate:
    token_id: int
    logit: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "token_id", check.unsigned(self.token_id, "token_id"))
        if not isinstance(self.logit, float):  # NaN and infinities are logits too
            object.__setattr__(self, "logit", float(check.real(self.logit, "logit")))


@dataclasses.dataclass(frozen=True)
class TokenConstraintState:
    status: TokenConstraintStatus
    state_flags: TokenConstraintStateFlags
    accepted_token_count: int
    peak_stack_count: int
    peak_stack_depth: int


def read_identity(native: Reference) -> ConstraintVocabularyIdentity:
    found = native.get("GetVocabularyIdentity", struct("WINML_CONSTRAINT_VOCABULARY_IDENTITY"))
    return ConstraintVocabularyIdentity(found.tokenCount, bytes(found.sha256))


class TokenConstraint(NativeObject):
    """The state of one constrained generation; belongs to the thread that made it."""

    @property
    def constraint_interface(self) -> NativeInterface:
        """The native object, to be handed to other libraries."""
        return NativeInterface._adopt(self._native.query("IWinMLTokenConstraint"))

    @property
    def vocabulary_identity(self) -> ConstraintVocabularyIdentity:
        return read_identity(self._native)

    def filter_candidates(self, candidates: Sequence[TokenConstraintCandidate]) -> Tuple[TokenConstraintCandidate, ...]:
        """Those that the grammar allows now, in the same order."""
        array = _candidates(candidates)
        buffer = struct("WINML_TOKEN_CONSTRAINT_CANDIDATE_BUFFER")()
        buffer.candidateCount = buffer.candidateCapacity = len(array)
        buffer.candidates = ctypes.addressof(array)
        self._native.call("FilterCandidates", ctypes.byref(buffer))
        kept = array[: min(buffer.candidateCount, len(array))]
        return tuple(TokenConstraintCandidate(one.tokenId, one.logit) for one in kept)

    def select_highest_allowed_candidate(self, candidates: Sequence[TokenConstraintCandidate]) -> int:
        """The allowed token with the highest logit; candidates come in the order of their ids."""
        selector = self._interface("IWinMLTokenConstraintGreedySelector")
        array = _candidates(candidates)
        return int(selector.get("SelectHighestAllowedCandidate", ctypes.c_uint32, len(array), array))

    def accept_token(self, token_id: int) -> None:
        """Says that the token was generated."""
        self._native.call("AcceptToken", check.unsigned(token_id, "token_id"))

    def is_stop_token(self, token_id: int) -> bool:
        return bool(self._native.get("IsStopToken", ctypes.c_int32, check.unsigned(token_id, "token_id")))

    def is_preserved_token(self, token_id: int) -> bool:
        return bool(self._native.get("IsPreservedToken", ctypes.c_int32, check.unsigned(token_id, "token_id")))

    @property
    def state(self) -> TokenConstraintState:
        found = self._native.get("GetState", struct("WINML_TOKEN_CONSTRAINT_STATE"))
        return TokenConstraintState(
            TokenConstraintStatus(found.status),
            TokenConstraintStateFlags(found.stateFlags),
            found.acceptedTokenCount,
            found.peakStackCount,
            found.peakStackDepth,
        )

    def reset(self) -> None:
        self._native.call("Reset")


def _candidates(values: Any) -> Any:
    checked = check.instances(values, TokenConstraintCandidate, "candidates")
    array = (struct("WINML_TOKEN_CONSTRAINT_CANDIDATE") * len(checked))()
    for target, value in zip(array, checked):
        target.tokenId, target.logit = value.token_id, value.logit
    return array
