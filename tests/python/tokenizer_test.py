# Tokenizers of a real GGUF through the library.
# Run by pytest against the built libraries; needs the model that tools/bootstrap fetches.
"""Text becomes tokens and conversations become prompts."""

import pytest
from openwinml.runtime import (
    ChatCompletionMessage,
    ChatCompletionRequest,
    ChatCompletionToolChoice,
    ClosedError,
    Tokenizer,
    WinMLError,
)

PROMPT_END = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"


@pytest.fixture
def tokenizer(gguf):
    with Tokenizer.from_file(gguf) as made:
        yield made


TEXTS = [
    "",
    "Hello, world!",
    "  two  spaces\tand\ttabs\n\n",
    "naïve café",
    "你好，世界 🌍👩‍👩‍👧",
    "1234567890",
]


@pytest.mark.parametrize("text", TEXTS)
def test_text_survives_the_way_through_tokens(tokenizer, text):
    ids = tokenizer.encode(text, add_special_tokens=False)
    assert tokenizer.decode(ids) == text
    with tokenizer.create_decoder() as decoder:
        assert "".join(decoder.decode_token(one) for one in ids) == text
        decoder.reset()
        assert "".join(decoder.decode_token(one) for one in ids) == text


def test_known_tokens(tokenizer):
    assert tokenizer.encode("Hello world", False) == [19556, 905]
    assert 2 in tokenizer.eos_token_ids
    assert tokenizer.bos_token_id is None or tokenizer.bos_token_id >= 0


def test_conversation_becomes_a_prompt(tokenizer):
    plain = tokenizer.encode_conversation([("user", "Hi")])
    assert tokenizer.decode(plain).endswith(PROMPT_END)
    with tokenizer.format_conversation(ChatCompletionRequest((ChatCompletionMessage("user", "Hi"),))) as result:
        assert list(result.token_ids) == plain
        assert result.generation_prompt == "<|im_start|>assistant\n" and result.generation_prompt_metadata.added
        assert result.constraint is None and result.constraint_triggers == ()
        assert result.implementation_identity.identity and isinstance(result.additional_stops, tuple)
        assert isinstance(result.preserved_tokens, tuple) and result.parser_capabilities >= 0
    without = tokenizer.encode_conversation([("user", "Hi")], add_generation_prompt=False)
    assert without == plain[: len(without)] and len(without) < len(plain)


def test_result_knows_its_tokenizer(tokenizer):
    with tokenizer.format_conversation(ChatCompletionRequest((ChatCompletionMessage("user", "Hi"),))) as result:
        with result.tokenizer as same:
            assert same.encode("Hello world", False) == [19556, 905]


def test_output_is_parsed_into_events(tokenizer):
    with tokenizer.format_conversation(ChatCompletionRequest((ChatCompletionMessage("user", "Hi"),))) as result:
        parser = result.create_output_parser()
    with parser:
        parser.append("Hello ")
        parser.append("there")
        parser.flush()
        events = list(iter(parser.read_event, None))
    assert "".join(event.text for event in events if event.type.name == "CONTENT_DELTA") == "Hello there"
    assert events[-1].type.name == "COMPLETED"


def test_request_that_cannot_be_formatted_is_refused_with_a_sentence(tokenizer):
    request = ChatCompletionRequest(
        (ChatCompletionMessage("user", "Hi"),), tool_choice=ChatCompletionToolChoice.NAMED, named_tool_choice="nothing"
    )
    with pytest.raises(WinMLError) as caught:
        tokenizer.format_conversation(request)
    assert caught.value.native_message


def test_missing_file_is_named(gguf):
    with pytest.raises(WinMLError, match="missing.gguf") as caught:
        Tokenizer.from_file("missing.gguf")
    assert caught.value.hresult == 0x80070002


def test_arguments_are_checked(tokenizer):
    for call, error in (
        (lambda: tokenizer.encode(5), TypeError),
        (lambda: tokenizer.encode("a\0b"), ValueError),
        (lambda: tokenizer.encode("a", 1), TypeError),
        (lambda: tokenizer.decode([-1]), ValueError),
        (lambda: tokenizer.decode("12"), TypeError),
        (lambda: tokenizer.encode_conversation("user"), TypeError),
        (lambda: tokenizer.encode_conversation([("user",)]), TypeError),
        (lambda: tokenizer.encode_conversation([("user", 5)]), TypeError),
        (lambda: tokenizer.format_conversation("Hi"), TypeError),
        (lambda: tokenizer.create_constraint(None), TypeError),
        (lambda: Tokenizer.from_file(None), TypeError),
        (lambda: Tokenizer.from_file(""), ValueError),
    ):
        with pytest.raises(error) as caught:
            call()
        assert not isinstance(caught.value, WinMLError)


def test_closed_tokenizer_is_refused(gguf):
    tokenizer = Tokenizer.from_file(gguf)
    decoder = tokenizer.create_decoder()
    tokenizer.close()
    with pytest.raises(ClosedError):
        tokenizer.encode("Hi")
    assert decoder.decode_token(19556) == "Hello"
    decoder.close()
