# `owml template`: conversations from files, what the model reads, mistakes in the file.
# Run by ctest through pytest with the fetched model, whose template is known.
"""Tests of owml template."""

import json
import os
import pathlib
import shutil

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
OPENING = "<|im_start|>assistant\n"
RENDERED = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"


def test_a_list_of_messages_is_rendered_with_the_assistants_turn_open(owml, gguf, tmp_path):
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(CHAT))
    done = owml("template", gguf, path)
    assert (done.code, done.out) == (0, RENDERED + OPENING)
    assert done.err.endswith(" tokens\n")
    assert owml("template", gguf, "-", stdin=json.dumps({"messages": CHAT})).out == done.out


def test_the_assistants_turn_may_stay_closed(owml, gguf):
    assert owml("template", gguf, "-", "--no-generation-prompt", stdin=json.dumps(CHAT)).out == RENDERED
    request = {"messages": CHAT, "add_generation_prompt": False}
    assert owml("template", gguf, "-", stdin=json.dumps(request)).out == RENDERED


def test_json_tells_text_tokens_and_what_belongs_to_the_answer(owml, gguf):
    report = owml("template", gguf, "-", "--json", stdin=json.dumps(CHAT)).json()
    assert report["text"] == RENDERED + OPENING
    assert report["count"] == len(report["tokens"])
    assert "".join(token["text"] for token in report["tokens"]) == report["text"]
    assert report["generationPrompt"] == OPENING
    assert report["constraint"] is None
    assert "content" in report["parserCapabilities"]
    assert report["identity"]["name"] and report["identity"]["version"] >= 1
    control = [token["text"] for token in report["tokens"] if token["special"]]
    assert control == ["<|im_start|>", "<|im_end|>"] * 2 + ["<|im_start|>"]


def test_text_of_a_message_is_never_a_control_token(owml, gguf):
    chat = [{"role": "user", "content": "a<|im_end|>b"}]
    report = owml("template", gguf, "-", "--json", stdin=json.dumps(chat)).json()
    assert "a<|im_end|>b" in report["text"]
    plain = owml("template", gguf, "-", "--json", stdin=json.dumps([{"role": "user", "content": "ab"}])).json()
    count = [sum(token["special"] for token in one["tokens"]) for one in (report, plain)]
    assert count[0] == count[1]


def test_tokens_are_shown_in_rows(owml, gguf):
    done = owml("template", gguf, "-", "--tokens", stdin=json.dumps(CHAT))
    assert done.out.splitlines()[1].split() == ["1", "0-12", "'<|im_start|>'", "special"]


@pytest.mark.parametrize(
    "request_json, words",
    [
        ("[", ["no JSON"]),
        ("3", ["no object"]),
        ("{}", ["lacks 'messages'"]),
        ('{"messages": 1}', ["messages", "no list"]),
        ('[{"content": "x"}]', ["messages[0]", "lacks 'role'"]),
        ('[{"role": 1}]', ["messages[0].role", "no string"]),
        ('[{"role": "user", "content": "x", "mood": 1}]', ["messages[0]", "'mood'"]),
        ('{"messages": [], "toolz": []}', ["'toolz'", "tools"]),
        ('{"messages": [], "tool_choice": "maybe"}', ["tool_choice", "auto"]),
        ('{"messages": [], "tools": [{"function": {}}]}', ["tools[0].function", "lacks 'name'"]),
        ('{"messages": [], "response_format": {"type": "xml"}}', ["response_format.type", "json_schema"]),
        ('{"messages": [], "add_generation_prompt": 1}', ["add_generation_prompt", "true"]),
        ('{"messages": [], "timestamp": 1.5}', ["timestamp", "whole number"]),
        ('{"messages": [], "continuation": "on"}', ["continuation", "reasoning"]),
        ('{"messages": [{"role": "user", "content": "a\\u0000b"}]}', ["NUL"]),
        ("[" * 300 + "]" * 300, ["nested"]),
    ],
)
def test_a_mistake_in_the_file_is_named_with_its_place(owml, gguf, request_json, words):
    done = owml("template", gguf, "-", stdin=request_json)
    assert (done.code, done.out) == (1, "")
    for word in words:
        assert word in done.sentence()


def test_a_tokenizer_without_a_template_says_so(owml, tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text('{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}')
    done = owml("template", path, "-", stdin=json.dumps(CHAT))
    assert done.code == 1 and "no chat template" in done.sentence()


def test_values_for_the_template_reach_it(owml, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    letters = {letter: number for number, letter in enumerate("abcdefghijklmnopqrstuvwxyz0123456789 .:=")}
    model = {"type": "BPE", "vocab": letters, "merges": []}
    (folder / "tokenizer.json").write_text(json.dumps({"decoder": {"type": "Fuse"}, "model": model}))
    (folder / "chat_template.jinja").write_text(
        "{% for m in messages %}{{ m.role }}: {{ m.content }} {% endfor %}{{ tone }}={{ count + 1 }}={{ ratio * 2 }}"
    )
    request = {
        "messages": [{"role": "user", "content": "hi"}],
        "chat_template_kwargs": {"tone": "calm", "count": 2, "ratio": 1.25},
    }
    done = owml("template", folder, "-", stdin=json.dumps(request))
    assert (done.code, done.out) == (0, "user: hi calm=3=2.5")


@pytest.fixture(scope="module")
def tool_folder(tmp_path_factory):
    """A tokenizer of bytes under Qwen 2.5's template."""
    template = pathlib.Path(os.environ.get("OWML_TEST_LLAMA_DATA", "")) / "templates/Qwen-Qwen2.5-7B-Instruct.jinja"
    if not template.is_file():
        pytest.skip("the chat templates of llama.cpp have not been fetched")
    folder = tmp_path_factory.mktemp("tools")
    alphabet = {letter: number for number, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(vocab=alphabet, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    shutil.copyfile(template, folder / "chat_template.jinja")
    return folder


def test_tools_calls_and_answers_are_rendered_and_the_next_call_is_constrained(owml, tool_folder):
    request = {
        "messages": [
            {"role": "user", "content": "What is 12 times 34?"},
            {
                "role": "assistant",
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "multiply", "arguments": json.dumps({"a": 12, "b": 34})},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "name": "multiply", "content": "408"},
        ],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "multiply",
                    "description": "Multiply two numbers.",
                    "parameters": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}},
                },
            }
        ],
        "tool_choice": {"type": "function", "function": {"name": "multiply"}},
    }
    report = owml("template", tool_folder, "-", "--json", stdin=json.dumps(request)).json()
    assert "Multiply two numbers." in report["text"]
    assert '<tool_call>\n{"name": "multiply", "arguments": {"a": 12, "b": 34}}\n</tool_call>' in report["text"]
    assert "<tool_response>\n408\n</tool_response>" in report["text"]
    assert "toolCalls" in report["parserCapabilities"]
    assert report["constraint"]["value"] and report["constraint"]["lazy"] is False
    request["tool_choice"] = "none"
    report = owml("template", tool_folder, "-", "--json", stdin=json.dumps(request)).json()
    assert "Multiply two numbers." in report["text"] and report["constraint"] is None


def test_what_the_template_does_not_support_keeps_its_own_sentence(owml, gguf):
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    done = owml("template", gguf, "-", stdin=json.dumps({"messages": CHAT, "tools": [tool]}))
    assert done.code == 1 and "tools" in done.sentence()
