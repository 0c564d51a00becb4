# Conversations with tools and reasoning, output parsers and their events, on a model folder made here.
# Run by pytest against the built libraries; the template is Qwen 2.5's, from the data of llama.cpp.
"""Requests become prompts, and replies become events."""

import json
import os
import pathlib
import shutil

import pytest
from openwinml.runtime import (
    ChatCompletionContinuation,
    ChatCompletionEventType,
    ChatCompletionMessage,
    ChatCompletionRequest,
    ChatCompletionResponseFormat,
    ChatCompletionTemplateValue,
    ChatCompletionTemplateValueType,
    ChatCompletionTool,
    ChatCompletionToolCall,
    ChatCompletionToolChoice,
    ConversationParserCapabilities,
    NotSupportedError,
    TokenConstraintStateFlags,
    TokenConstraintStatus,
    Tokenizer,
    WinMLError,
)
from tokenizers import Tokenizer as Oracle
from tokenizers import decoders, models, pre_tokenizers

SCHEMA = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]}
TOOL = ChatCompletionTool("multiply", json.dumps(SCHEMA), "Multiply two numbers.")
QUESTION = ChatCompletionMessage("user", "What is 12 times 34?")
CALL = '<tool_call>\n{"name": "multiply", "arguments": {"a": 12, "b": 34}}\n</tool_call>'


def write_tokenizer(folder):
    """Every byte is a token; the markup of the template has its own."""
    alphabet = {letter: number for number, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Oracle(models.BPE(vocab=alphabet, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|im_start|>", "<|im_end|>", "<|endoftext|>"])
    tokenizer.add_tokens(["<tool_call>", "</tool_call>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"eos_token": "<|im_end|>"}))
    return tokenizer


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    data = os.environ.get("OWML_TEST_LLAMA_DATA", "")
    template = pathlib.Path(data) / "templates" / "Qwen-Qwen2.5-7B-Instruct.jinja"
    if not data or not template.is_file():
        pytest.skip("the chat templates of llama.cpp have not been fetched")
    path = tmp_path_factory.mktemp("model")
    write_tokenizer(path)
    (path / "chat_template.jinja").write_text(template.read_text(encoding="utf-8"), encoding="utf-8")
    return path


@pytest.fixture
def tokenizer(folder):
    with Tokenizer.from_file(str(folder)) as opened:
        yield opened


def events_of(parser, *parts):
    for part in parts:
        parser.append(part)
    parser.flush()
    return list(iter(parser.read_event, None))


def test_a_folder_and_its_tokenizer_json_are_the_same_tokenizer(folder, tokenizer):
    oracle = Oracle.from_file(str(folder / "tokenizer.json"))
    text = "Grüße<|im_end|> 😊\n"
    with Tokenizer.from_file(str(folder / "tokenizer.json")) as same:
        assert same.encode(text) == tokenizer.encode(text) == oracle.encode(text).ids
        assert same.vocabulary_identity == tokenizer.vocabulary_identity
        assert same.vocabulary_identity.token_count == oracle.get_vocab_size()
        assert len(same.vocabulary_identity.sha256) == 32
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.eos_token_ids[0] == oracle.token_to_id("<|im_end|>")


def test_tools_are_shown_to_the_model_and_calls_become_events(tokenizer):
    request = ChatCompletionRequest((QUESTION,), (TOOL,))
    with tokenizer.format_conversation(request) as result:
        prompt = tokenizer.decode(result.token_ids)
        assert '"name": "multiply"' in prompt and "Multiply two numbers." in prompt
        assert result.parser_capabilities & ConversationParserCapabilities.TOOL_CALLS
        assert "<tool_call>" in [token.text for token in result.preserved_tokens]
        with result.create_output_parser() as parser:
            events = events_of(parser, "Let me ", "see. " + CALL[:30], CALL[30:])
    kinds = ChatCompletionEventType
    content = "".join(event.text for event in events if event.type == kinds.CONTENT_DELTA)
    assert content.strip() == "Let me see."
    (start,) = [event for event in events if event.type == kinds.TOOL_CALL_START]
    assert start.tool_name == "multiply" and start.call_id and start.tool_call_index == 0
    deltas = [event for event in events if event.type == kinds.TOOL_ARGUMENTS_DELTA]
    assert json.loads("".join(event.text for event in deltas)) == {"a": 12, "b": 34}
    assert {event.call_id for event in deltas} == {start.call_id}
    assert [event.type for event in events][-2:] == [kinds.TOOL_CALL_END, kinds.COMPLETED]


def accept(tokenizer, constraint, text):
    for token in tokenizer.encode(text, add_special_tokens=False):
        constraint.accept_token(token)
    return constraint.state


def test_an_optional_call_is_constrained_from_its_trigger_on(tokenizer):
    with tokenizer.format_conversation(ChatCompletionRequest((QUESTION,), (TOOL,))) as result:
        assert result.constraint.lazy and result.constraint_triggers
        with tokenizer.create_constraint(result) as constraint:
            assert constraint.state.state_flags & TokenConstraintStateFlags.AWAITING_TRIGGER
            state = accept(tokenizer, constraint, "I had better compute. " + CALL)
            assert state.state_flags == TokenConstraintStateFlags.CAN_STOP
            constraint.reset()
            with pytest.raises(WinMLError):
                accept(tokenizer, constraint, CALL.replace("multiply", "divide"))
            assert constraint.state.status == TokenConstraintStatus.POISONED


def test_an_answer_without_the_required_call_cannot_end(tokenizer):
    request = ChatCompletionRequest((QUESTION,), (TOOL,), tool_choice=ChatCompletionToolChoice.REQUIRED)
    with tokenizer.format_conversation(request) as result:
        assert not result.constraint.lazy
        with tokenizer.create_constraint(result) as constraint:
            state = accept(tokenizer, constraint, "I had better compute. ")
            assert state.state_flags == TokenConstraintStateFlags.NONE
            assert accept(tokenizer, constraint, CALL).state_flags == TokenConstraintStateFlags.CAN_STOP
            constraint.reset()
            with pytest.raises(WinMLError):
                constraint.accept_token(tokenizer.eos_token_ids[0])


def test_an_answer_of_a_schema_is_constrained_to_it(tokenizer):
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    schema["additionalProperties"] = False
    request = ChatCompletionRequest(
        (QUESTION,),
        response_format=ChatCompletionResponseFormat.JSON_SCHEMA,
        response_schema_name="answer",
        response_schema_json=json.dumps(schema),
    )
    with tokenizer.format_conversation(request) as result, tokenizer.create_constraint(result) as constraint:
        assert accept(tokenizer, constraint, '{"a":1}').state_flags & TokenConstraintStateFlags.CAN_STOP
        constraint.reset()
        with pytest.raises(WinMLError):
            accept(tokenizer, constraint, '{"b":1}')


def test_a_parser_starts_again_after_reset(tokenizer):
    with tokenizer.format_conversation(ChatCompletionRequest((QUESTION,))) as result:
        with result.create_output_parser() as parser:
            first = events_of(parser, "one")
            parser.reset()
            assert parser.read_event() is None
            second = events_of(parser, "two")
    assert "".join(event.text or "" for event in first) == "one"
    assert "".join(event.text or "" for event in second) == "two"
    for event in second:
        event.raise_for_error()


def test_replayed_calls_and_answers_are_rendered(tokenizer):
    messages = (
        QUESTION,
        ChatCompletionMessage(
            "assistant", tool_calls=(ChatCompletionToolCall("c1", "multiply", '{"a": 12, "b": 34}'),)
        ),
        ChatCompletionMessage("tool", "408", tool_call_id="c1", tool_name="multiply"),
    )
    request = ChatCompletionRequest(messages, (TOOL,), tool_choice=ChatCompletionToolChoice.NONE)
    with tokenizer.format_conversation(request) as result:
        prompt = tokenizer.decode(result.token_ids)
    assert CALL in prompt
    assert "<tool_response>\n408\n</tool_response>" in prompt


def test_an_answer_may_be_carried_on(tokenizer):
    messages = (QUESTION, ChatCompletionMessage("assistant", "It is 4"))
    request = ChatCompletionRequest(
        messages, add_generation_prompt=False, continuation=ChatCompletionContinuation.CONTENT
    )
    with tokenizer.format_conversation(request) as result:
        assert tokenizer.decode(result.token_ids).endswith("<|im_start|>assistant\nIt is 4")
        assert result.generation_prompt_metadata.continuation == ChatCompletionContinuation.CONTENT


def test_published_prompt_lengths_of_qwen_are_met(tmp_path):
    """The reference's samples print these counts for Qwen 2.5, whose vocabulary the file of Qwen 3 extends."""
    tokenizers = sorted(pathlib.Path(os.environ.get("OWML_TEST_TOKENIZERS", "")).glob("qwen3-*/tokenizer.json"))
    template = pathlib.Path(os.environ.get("OWML_TEST_LLAMA_DATA", "")) / "templates/Qwen-Qwen2.5-7B-Instruct.jinja"
    if not tokenizers or not template.is_file():
        pytest.skip("the published tokenizers or the chat templates have not been fetched")
    shutil.copyfile(tokenizers[-1], tmp_path / "tokenizer.json")
    shutil.copyfile(template, tmp_path / "chat_template.jinja")
    colors = ("user", "Name three primary colors.")
    answer = ("assistant", "Three primary colors are red, blue, and yellow.")
    counts = {
        34: [colors],
        65: [colors, answer, ("user", "Which of those is the color of the sky?")],
        27: [("system", "You are a helpful assistant. Answer briefly."), colors],
        37: [("user", "Count from one to five in words.")],
    }
    with Tokenizer.from_file(str(tmp_path)) as tokenizer:
        for count, messages in counts.items():
            assert len(tokenizer.encode_conversation(messages)) == count
            request = ChatCompletionRequest(tuple(ChatCompletionMessage(*message) for message in messages))
            with tokenizer.format_conversation(request) as result:
                assert len(result.token_ids) == count


def test_values_reach_the_template(tmp_path):
    write_tokenizer(tmp_path)
    template = "{{ messages[0].content }}|{{ flag }}|{{ n + 1 }}|{{ x * 2 }}|{{ s }}|{{ j.k[1] }}"
    (tmp_path / "chat_template.jinja").write_text(template)
    kinds = ChatCompletionTemplateValueType
    values = tuple(
        ChatCompletionTemplateValue(*value)
        for value in (
            ("flag", kinds.BOOLEAN, True),
            ("n", kinds.INTEGER, 41),
            ("x", kinds.DOUBLE, 0.5),
            ("s", kinds.STRING, "text"),
            ("j", kinds.JSON, '{"k": [1, 2]}'),
        )
    )
    with Tokenizer.from_file(str(tmp_path)) as tokenizer:
        request = ChatCompletionRequest((ChatCompletionMessage("user", "hi"),), template_values=values)
        with tokenizer.format_conversation(request) as result:
            assert tokenizer.decode(result.token_ids) == "hi|True|42|1.0|text|2"


def test_what_cannot_be_honoured_is_refused_with_a_sentence(tokenizer):
    requests = [
        ChatCompletionRequest((QUESTION,), extensions_json='{"unheard": 1}'),
        ChatCompletionRequest(
            (QUESTION,), (TOOL,), tool_choice=ChatCompletionToolChoice.NAMED, named_tool_choice="divide"
        ),
        ChatCompletionRequest((QUESTION,), (ChatCompletionTool("f", "no JSON"),)),
    ]
    for request in requests:
        with pytest.raises(WinMLError) as caught:
            tokenizer.format_conversation(request)
        assert caught.value.native_message


def test_without_a_template_there_is_no_formatter(tmp_path):
    write_tokenizer(tmp_path)
    with Tokenizer.from_file(str(tmp_path)) as tokenizer:
        with pytest.raises(NotSupportedError):
            tokenizer.format_conversation(ChatCompletionRequest((QUESTION,)))
        with pytest.raises(NotSupportedError):
            tokenizer.encode_conversation([("user", "hi")])
