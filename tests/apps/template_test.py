# `owml template`: conversations from files, what the model reads, mistakes in the file.
# Run by ctest through pytest with the fetched model, whose template is known.
"""Tests of owml template."""

import json

import pytest

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
