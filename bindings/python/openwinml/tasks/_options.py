# What an application asks of one generation, and the native object made of it.
# Used by text generation and chat completion.
"""TextGenerationOptions."""

from __future__ import annotations

import ctypes
import dataclasses
import math
from typing import Any, Optional, Tuple

from .. import _arguments as check
from .._native.interfaces import struct
from .._native.memory import unsigned_array
from .._native.reference import Reference

_ALL_FIELDS = 0x3FF


def _number(value: Any, name: str, allowed: str, test: Any) -> float:
    """A number as the 32-bit one that the library gets; the range is checked on that."""
    number = ctypes.c_float(check.real(value, name)).value
    if not math.isfinite(number) or not test(number):
        raise ValueError(f"{name} must be {allowed}, not {value}")
    return float(value)


@dataclasses.dataclass(frozen=True)
class TextGenerationOptions:
    """Limits, stop tokens and sampling. Temperature 0 always takes the most likely token; seed 0 is another one each
    time."""

    max_new_tokens: int = 256
    stop_token_ids: Tuple[int, ...] = ()
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    repetition_penalty_window: int = 0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        checked = {
            "max_new_tokens": check.unsigned(self.max_new_tokens, "max_new_tokens", least=1),
            "stop_token_ids": check.integers(self.stop_token_ids, "stop_token_ids"),
            "temperature": _number(self.temperature, "temperature", "a finite number of at least 0", lambda n: n >= 0),
            "top_k": check.unsigned(self.top_k, "top_k"),
            "top_p": _number(self.top_p, "top_p", "above 0 and at most 1", lambda n: 0 < n <= 1),
            "min_p": _number(self.min_p, "min_p", "from 0 to 1", lambda n: 0 <= n <= 1),
            "repetition_penalty": _number(
                self.repetition_penalty, "repetition_penalty", "a finite number above 0", lambda n: n > 0
            ),
            "repetition_penalty_window": check.unsigned(self.repetition_penalty_window, "repetition_penalty_window"),
            "presence_penalty": _number(
                self.presence_penalty, "presence_penalty", "a finite number", lambda n: True
            ),
            "frequency_penalty": _number(
                self.frequency_penalty, "frequency_penalty", "a finite number", lambda n: True
            ),
            "seed": check.unsigned64(self.seed, "seed"),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)


def native_options(factory: Reference, options: Optional[TextGenerationOptions]) -> Reference:
    """The native object; None stands for the defaults."""
    wanted = TextGenerationOptions() if options is None else check.instance(options, TextGenerationOptions, "options")
    values = struct("WINML_TEXT_GENERATION_OPTIONS")()
    values.presentFields = _ALL_FIELDS
    values.maxNewTokens = wanted.max_new_tokens
    values.temperature, values.topK, values.topP, values.minP = (
        wanted.temperature, wanted.top_k, wanted.top_p, wanted.min_p,
    )  # fmt: skip
    values.repetitionPenalty = wanted.repetition_penalty
    values.repetitionPenaltyWindow = wanted.repetition_penalty_window
    values.presencePenalty, values.frequencyPenalty = wanted.presence_penalty, wanted.frequency_penalty
    values.seed = wanted.seed
    stops = wanted.stop_token_ids
    return factory.create(
        "CreateTextGenerationOptions",
        "IWinMLTextGenerationOptions",
        ctypes.byref(values),
        len(stops),
        unsigned_array(stops) if stops else None,
    )
