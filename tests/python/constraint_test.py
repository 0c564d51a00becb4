# Token constraints from Python, on the vocabulary of the fetched model.
# Run by pytest against the built libraries.
"""A constraint lets through what its grammar allows, token by token."""

import math
import threading

import pytest
from openwinml.runtime import (
    ChatCompletionMessage,
    ChatCompletionRequest,
    NotSupportedError,
    TokenConstraintCandidate,
    TokenConstraintStateFlags,
    TokenConstraintStatus,
    Tokenizer,
    WinMLError,
)

END = 2


@pytest.fixture
def tokenizer(gguf):
    with Tokenizer.from_file(gguf) as opened:
        yield opened


def constraint_of(tokenizer, extensions):
    request = ChatCompletionRequest((ChatCompletionMessage("user", "Hi"),), extensions_json=extensions)
    with tokenizer.format_conversation(request) as result:
        assert result.constraint is not None
        return tokenizer.create_constraint(result)


@pytest.fixture
def digits(tokenizer):
    """Two or three digits."""
    with constraint_of(tokenizer, '{"openwinml": {"regex": "[0-9]{2,3}"}}') as constraint:
        yield constraint


def everything(tokenizer):
    return [TokenConstraintCandidate(token, 0.0) for token in range(tokenizer.vocabulary_identity.token_count)]


def test_only_allowed_candidates_stay_in_their_order(tokenizer, digits):
    kept = digits.filter_candidates(everything(tokenizer))
    assert [tokenizer.decode([one.token_id]) for one in kept] == list("0123456789")
    backwards = digits.filter_candidates(everything(tokenizer)[::-1])
    assert [one.token_id for one in backwards] == [one.token_id for one in kept][::-1]


def test_the_best_allowed_candidate_is_found(tokenizer, digits):
    five, letter = tokenizer.encode("5", False)[0], tokenizer.encode("a", False)[0]
    logits = {five: 2.0, letter: 9.0}
    scored = [TokenConstraintCandidate(token, logits.get(token, 1.0)) for token in range(len(everything(tokenizer)))]
    assert digits.select_highest_allowed_candidate(scored) == five
    with pytest.raises(WinMLError):
        digits.select_highest_allowed_candidate(scored[::-1])
    lost = [TokenConstraintCandidate(one.token_id, -math.inf) for one in scored]
    with pytest.raises(WinMLError):
        digits.select_highest_allowed_candidate(lost)


def test_the_state_follows_the_tokens(tokenizer, digits):
    assert digits.vocabulary_identity == tokenizer.vocabulary_identity
    assert digits.is_stop_token(END) and not digits.is_stop_token(tokenizer.encode("5", False)[0])
    one, two = tokenizer.encode("12", False)
    digits.accept_token(one)
    assert digits.state.status == TokenConstraintStatus.ACTIVE
    assert not digits.state.state_flags & TokenConstraintStateFlags.CAN_STOP
    digits.accept_token(two)
    assert digits.state.state_flags & TokenConstraintStateFlags.CAN_STOP
    assert digits.state.accepted_token_count == 2
    digits.accept_token(END)
    assert digits.state.status == TokenConstraintStatus.COMPLETED
    digits.reset()
    assert digits.state.status == TokenConstraintStatus.ACTIVE and digits.state.accepted_token_count == 0


def test_a_forbidden_token_poisons_until_reset(tokenizer, digits):
    with pytest.raises(WinMLError):
        digits.accept_token(tokenizer.encode("a", False)[0])
    assert digits.state.status == TokenConstraintStatus.POISONED
    digits.reset()
    assert digits.state.status == TokenConstraintStatus.ACTIVE


def test_a_grammar_is_followed(tokenizer):
    with constraint_of(tokenizer, r'{"openwinml": {"grammar": "root ::= \"yes\" | \"no\""}}') as constraint:
        texts = {tokenizer.decode([one.token_id]) for one in constraint.filter_candidates(everything(tokenizer))}
        assert texts == {"y", "ye", "yes", "n", "no"} & texts and {"yes", "no"} <= texts


def test_a_broken_grammar_is_refused_with_a_sentence(tokenizer):
    with pytest.raises(WinMLError) as caught:
        constraint_of(tokenizer, '{"openwinml": {"regex": "(("}}')
    assert caught.value.native_message


def test_a_request_without_constraint_has_none(tokenizer):
    with tokenizer.format_conversation(ChatCompletionRequest((ChatCompletionMessage("user", "Hi"),))) as result:
        assert result.constraint is None
        with pytest.raises(NotSupportedError):
            tokenizer.create_constraint(result)


def test_a_constraint_belongs_to_its_thread(digits):
    found = []

    def elsewhere():
        try:
            digits.is_stop_token(END)
        except WinMLError as error:
            found.append(error.hresult)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == [0x8001010E]
