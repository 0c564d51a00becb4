# Options and records of generations: what is accepted, what is refused and how.
# Run by pytest; needs no library.
"""Values are checked before anything native runs."""

import dataclasses
import math

import pytest
from openwinml import tasks as t


def test_options_have_the_documented_defaults():
    assert dataclasses.astuple(t.TextGenerationOptions()) == (256, (), 0.0, 0, 1.0, 0.0, 1.0, 0, 0.0, 0.0, 0)


def test_options_take_their_fields_in_the_written_order():
    options = t.TextGenerationOptions(7, [1, 2], 0.5, 40, 0.9, 0.1, 1.1, 64, 0.2, 0.3, 2**64 - 1)
    assert options.stop_token_ids == (1, 2) and options.temperature == 0.5 and options.seed == 2**64 - 1
    assert options.repetition_penalty_window == 64 and options.frequency_penalty == 0.3


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_new_tokens", 0),
        ("max_new_tokens", 2**32),
        ("stop_token_ids", [-1]),
        ("stop_token_ids", [2**32]),
        ("temperature", -0.1),
        ("temperature", math.nan),
        ("temperature", math.inf),
        ("temperature", 1e39),  # infinite as the 32-bit number that the library takes
        ("top_k", -1),
        ("top_k", 2**32),
        ("top_p", 0),
        ("top_p", 1.01),
        ("top_p", 1e-50),  # 0 as a 32-bit number
        ("top_p", math.nan),
        ("min_p", -0.1),
        ("min_p", 1.5),
        ("repetition_penalty", 0),
        ("repetition_penalty", -1),
        ("repetition_penalty", math.inf),
        ("repetition_penalty_window", -1),
        ("presence_penalty", math.nan),
        ("frequency_penalty", math.inf),
        ("seed", -1),
        ("seed", 2**64),
    ],
)
def test_options_out_of_range_are_value_errors(field, value):
    with pytest.raises(ValueError, match=field):
        t.TextGenerationOptions(**{field: value})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_new_tokens", 1.5),
        ("stop_token_ids", "12"),
        ("stop_token_ids", 3),
        ("temperature", "warm"),
        ("top_k", None),
        ("top_p", None),
        ("seed", 1.0),
    ],
)
def test_options_of_the_wrong_kind_are_type_errors(field, value):
    with pytest.raises(TypeError, match=field):
        t.TextGenerationOptions(**{field: value})


def test_segments_are_one_form_or_the_other():
    segment = t.TextGenerationSegment.from_tokens([1, 2])
    assert (segment.kind, segment.token_ids) == (t.TextGenerationSegmentKind.TOKENS, (1, 2))
    with pytest.raises(ValueError):
        t.TextGenerationSegment.from_tokens([])
    with pytest.raises(ValueError):
        t.TextGenerationSegment(t.TextGenerationSegmentKind.EMBEDDINGS, (1,))
    with pytest.raises(TypeError):
        t.TextGenerationSegment.from_embeddings(None, None)


def test_failed_results_raise_their_error():
    reasons = t.TextGenerationFinishReason
    good = t.TextGenerationResult("a", (1, 2), reasons.EOS_TOKEN, 0, 3)
    good.raise_for_error()
    assert good.generated_token_count == 2 and good.speculative_statistics is None
    with pytest.raises(OSError, match="0x80004005"):
        t.TextGenerationResult("", (), reasons.ERROR, 0x80004005, 3).raise_for_error()


def test_acceptance_rate_of_no_drafts_is_zero():
    method = t.TextGenerationSpeculativeMethod.PROMPT_LOOKUP
    assert t.TextGenerationSpeculativeStatistics(method, 2, 8, 6).acceptance_rate == 0.75
    assert t.TextGenerationSpeculativeStatistics(method, 0, 0, 0).acceptance_rate == 0.0


def test_media_bindings_name_a_place_and_a_tensor():
    with pytest.raises(ValueError):
        t.ChatMediaBinding(-1, 0, None)
    with pytest.raises(TypeError, match="tensor"):
        t.ChatMediaBinding(0, 0, None)
