# The command line itself: help, version, wrong usage, broken text, colours, a full disk.
# Models are not needed here.
"""Tests of owml's command line."""

import subprocess

import pytest
from conftest import command, environment

VERBS = ["inspect", "run", "generate", "chat", "bench", "completion"]


def test_help_lists_every_verb_and_gives_examples(owml):
    done = owml("--help")
    assert done.code == 0
    for verb in VERBS:
        assert f"\n  {verb} " in done.out
    assert "Examples:\n  owml " in done.out
    assert done.err == ""


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_gives_examples(owml, verb):
    done = owml(verb, "--help")
    assert done.code == 0
    examples = done.out.split("Examples:\n")[1]
    assert f"owml {verb} " in examples


def test_version_tells_version_processor_and_threads(owml):
    done = owml("--version")
    assert done.code == 0
    first, cpu, threads = done.out.splitlines()
    assert first.startswith("owml ") and first.count(".") == 2
    assert cpu.startswith("cpu: ")
    assert int(threads.split(": ")[1]) >= 1


@pytest.mark.parametrize(
    "arguments, part",
    [
        ([], "subcommand"),
        (["frobnicate"], "there is no verb 'frobnicate'"),
        (["inspect"], "FILE"),
        (["inspect", "a", "b"], "b"),
        (["run", "m.onnx", "--wrong"], "--wrong"),
        (["run", "m.onnx", "--repeat", "0"], "--repeat"),
        (["run", "m.onnx", "--repeat", "many"], "--repeat"),
        (["run", "m.onnx", "--dim", "batch"], "NAME=VALUE"),
        (["run", "m.onnx", "--dim", "batch=-1"], "above 0"),
        (["run", "m.onnx", "--dim", "batch=1", "--dim", "batch=2"], "given twice"),
        (["run", "m.onnx", "-i", "x=a.npy", "-i", "x=b.npy"], "given twice"),
        (["chat", "m.gguf", "hi", "--top-p", "2"], "--top-p"),
        (["chat", "m.gguf", ""], "the prompt is empty"),
        (["generate", "m.gguf", ""], "the prompt is empty"),
        (["completion", "tcsh"], "tcsh"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_is_wrong(owml, arguments, part):
    done = owml(*arguments)
    assert (done.code, done.out) == (2, "")
    assert part in done.err


def test_an_argument_that_is_not_utf8_is_refused(owml):
    done = owml("generate", "model.gguf", b"ab\xff")
    assert (done.code, done.out) == (2, "")
    assert done.sentence() == "argument 3 is not valid UTF-8 (byte 3)"


def test_a_failure_is_also_json_when_asked_for(owml, tmp_path):
    done = owml("inspect", tmp_path / "none.onnx", "--json")
    assert done.code == 1
    error = done.json()["error"]
    assert "none.onnx" in error["message"]
    assert error["hresult"].startswith("0x8")
    assert done.sentence() == error["message"]


def test_a_result_that_cannot_be_written_is_a_failure(mixing_model):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [command(), "inspect", mixing_model],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == b"owml: cannot write to standard output\n"
