# `owml generate`, one-shot `owml chat` and `owml bench` on a real model: streams, JSON, limits, threads.
# Answers are short, because each test loads the model.
"""Tests of the verbs that run language models."""

import json
import math
import re
import subprocess

import pytest
from conftest import command, environment

QUESTION = "What is 2+2?"


def test_the_answer_alone_is_on_standard_output(owml, gguf):
    done = owml("chat", gguf, QUESTION)
    assert done.code == 0
    assert "4" in done.out and done.out.endswith("\n")
    assert "<|im_" not in done.out and "\x1b" not in done.out
    assert done.err == ""


def test_notes_and_statistics_are_on_standard_error(owml, gguf):
    done = owml("chat", gguf, QUESTION, "-n", 3, "--stats", "--context", 64)
    assert done.code == 0
    finish, stats = done.err.splitlines()
    assert finish == "[stopped at the token limit; --max-tokens N raises it]"
    assert stats.startswith("prompt ") and "answer 3 tokens" in stats and stats.endswith("/64")
    assert "stopped" not in done.out and "tokens/s" not in done.out


def test_chat_as_json_counts_tokens(owml, gguf):
    done = owml("chat", gguf, QUESTION, "-n", 4, "--json")
    report = done.json()
    assert report["finishReason"] == "length"
    assert report["completionTokens"] == 4
    assert report["promptTokens"] > 10 and report["cachedTokens"] == 0
    assert report["content"]
    assert done.err == ""


def test_generate_as_json_continues_the_text(owml, gguf):
    report = owml("generate", gguf, "The capital of France is", "-n", 2, "--json").json()
    assert report["text"].startswith(" Paris")
    assert report["generatedTokens"] == 2


def test_a_prompt_from_standard_input_equals_one_on_the_command_line(owml, gguf):
    given = owml("generate", gguf, "The capital of France is", "-n", 4)
    piped = owml("generate", gguf, "-", "-n", 4, stdin="The capital of France is\n")
    assert given.code == piped.code == 0
    assert piped.out == given.out


@pytest.mark.parametrize(
    "text, sentence",
    [
        (b"", "the prompt on standard input is empty"),
        (b"\n\n", "the prompt on standard input is empty"),
        (b"caf\xe9", "the prompt on standard input is not valid UTF-8 (byte 4)"),
    ],
)
def test_a_bad_prompt_on_standard_input_is_refused(owml, gguf, text, sentence):
    done = owml("chat", gguf, "-", stdin=text)
    assert (done.code, done.out, done.sentence()) == (1, "", sentence)


def test_a_seed_fixes_what_is_sampled(owml, gguf):
    def text(seed):
        options = ["--temperature", 1.5, "--seed", seed, "-n", 8]
        return owml("generate", gguf, "Once upon a time", *options).out

    assert text(1) == text(1)
    assert len({text(seed) for seed in (1, 2, 3)}) > 1


def test_a_prompt_that_does_not_fit_is_refused_with_both_numbers(owml, gguf):
    done = owml("chat", gguf, "word " * 200, "--context", 128)
    assert (done.code, done.out) == (1, "")
    sentence = done.sentence()
    count = int(sentence.split("the prompt has ")[1].split()[0])
    assert count > 200
    assert sentence == f"the prompt has {count} tokens, the context holds 128; --context N makes it larger"


def test_an_answer_ends_where_the_context_does(owml, gguf):
    done = owml("generate", gguf, "Once upon a time", "--context", 16, "-n", 100, "--json")
    assert done.code == 0
    report = done.json()
    assert report["finishReason"] == "context"
    assert report["promptTokens"] + report["generatedTokens"] == 16


def test_a_long_prompt_in_steps_gives_what_one_run_gives(owml, gguf):
    """Prompts are evaluated in steps; the next token must be that of the same text after other steps."""
    text = "The quick brown fox jumps over the lazy dog. " * 40
    whole = owml("generate", gguf, text, "-n", 6, "--json").json()
    assert whole["promptTokens"] > 300
    assert whole["text"].lstrip().startswith("The quick brown fox")


SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 10}, "age": {"type": "integer", "minimum": 1, "maximum": 99}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("verb", ["chat", "generate"])
def test_answers_have_the_shape_that_is_asked_for(owml, gguf, tmp_path, verb):
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "grammar.gbnf").write_text('root ::= "yes" | "no"\n')
    options = ["-n", 60, "--temperature", 1.5, "--seed", 3]
    done = owml(verb, gguf, "A person as JSON:", "--json-schema", tmp_path / "schema.json", *options)
    value = json.loads(done.out)
    assert set(value) == {"name", "age"} and 1 <= value["age"] <= 99 and len(value["name"]) <= 10
    assert owml(verb, gguf, "Is it?", "--grammar", tmp_path / "grammar.gbnf", *options).out in ("yes\n", "no\n")
    assert re.fullmatch("1[0-9]{3}\n", owml(verb, gguf, "The year is ", "--regex", "1[0-9]{3}", *options).out)


def test_a_bad_shape_is_refused_with_a_sentence(owml, gguf, tmp_path):
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "bad.gbnf").write_text("root ::= (")
    assert "is no JSON" in owml("chat", gguf, "x", "--json-schema", tmp_path / "bad.json").sentence()
    assert "cannot read" in owml("chat", gguf, "x", "--grammar", tmp_path / "none.gbnf").sentence()
    assert "grammar" in owml("chat", gguf, "x", "--grammar", tmp_path / "bad.gbnf").sentence()
    assert owml("chat", gguf, "x", "--regex", "a", "--grammar", tmp_path / "bad.gbnf").code == 2


def test_lookup_changes_no_greedy_text(owml, gguf):
    text = "one two three four five one two three four five one two"
    plain = owml("generate", gguf, text, "-n", 24)
    assert owml("generate", gguf, text, "-n", 24, "--lookup").out == plain.out


def test_every_sampling_option_is_taken(owml, gguf):
    options = ["--temperature", 1, "--top-k", 50, "--top-p", 0.9, "--min-p", 0.05, "--seed", 4]
    penalties = ["--repetition-penalty", 1.3, "--repetition-window", 32, "--presence-penalty", 0.2]
    arguments = ["generate", gguf, "Once upon a time", *options, *penalties, "--frequency-penalty", 0.1, "-n", 12]
    first = owml(*arguments)
    assert first.code == 0 and first.out == owml(*arguments).out


def test_a_transcript_is_kept_and_continued(owml, gguf, tmp_path):
    path = tmp_path / "talk.json"
    first = owml("chat", gguf, "Say hi.", "-n", 6, "--transcript", path, "--system", "Be brief.")
    turns = json.loads(path.read_text())
    assert [turn["role"] for turn in turns] == ["system", "user", "assistant"]
    assert turns[2]["content"] + "\n" == first.out
    report = owml("chat", gguf, "Again.", "-n", 6, "--transcript", path, "--json").json()
    turns = json.loads(path.read_text())
    assert len(turns) == 5 and turns[4]["content"] == report["content"]
    path.write_text("[{}]")
    assert "role" in owml("chat", gguf, "x", "--transcript", path).sentence()


def test_images_are_refused(owml, gguf):
    done = owml("chat", gguf, "What is this?", "--image", "cat.png")
    assert done.code == 1 and "images are not supported" in done.sentence()


def test_tools_need_a_template_that_shows_them(owml, gguf, tmp_path):
    tool = {"name": "now", "description": "The time.", "parameters": {"type": "object", "properties": {}}}
    (tmp_path / "tools.json").write_text(json.dumps([{"type": "function", "function": tool}]))
    done = owml("chat", gguf, "What time is it?", "--tools", tmp_path / "tools.json")
    assert done.code == 1 and "does not show tools" in done.sentence()
    assert "IWinML" not in done.sentence()


def test_an_onnx_model_is_no_language_model(owml, mixing_model):
    done = owml("chat", mixing_model, "hello")
    assert done.code == 1
    assert "mixing.onnx" in done.sentence() or "language model" in done.sentence()


def test_bench_reports_both_rates(owml, gguf):
    report = owml("bench", gguf, "-p", 8, "-n", 4, "-r", 2, "--json").json()
    assert [row["test"] for row in report["results"]] == ["pp8", "tg4"]
    for row in report["results"]:
        assert len(row["samples"]) == 2
        assert row["tokensPerSecond"] == pytest.approx(sum(row["samples"]) / 2)
        assert row["tokensPerSecond"] > 0 and row["deviation"] >= 0
    assert report["threads"] >= 1 and report["cpu"] and report["engine"] and report["bytes"] > 0
    # More than the weights, which all are read, and no more than the file a few times.
    assert report["bytes"] * 0.9 < report["peak_memory_bytes"] < report["bytes"] * 6
    only = owml("bench", gguf, "-p", 0, "-n", 2, "-r", 1)
    assert "tg2" in only.out and "pp" not in only.out.split("tokens/s")[1]
    assert "memory: " in only.out and "of the limit" in only.out


def test_bench_holds_rates_against_the_limits_beside_them(owml, gguf):
    tensors = owml("inspect", gguf, "--json").json()["tensors"]
    operations = sum(2 * math.prod(t["shape"]) for t in tensors if t["name"].startswith("blk.") and len(t["shape"]) > 1)
    read = sum(tensor["bytes"] for tensor in tensors)  # the head is the embedding
    report = owml("bench", gguf, "-p", 8, "-n", 4, "-r", 1, "--json").json()
    assert report["prompt_share_of_limit"] == pytest.approx(
        report["prompt_tokens_per_second"] * operations / report["int8_gops"] / 1e9
    )
    assert report["generation_share_of_limit"] == pytest.approx(
        report["generation_tokens_per_second"] * read / report["read_bandwidth_gb_per_second"] / 1e9
    )
    deep = owml("bench", gguf, "-p", 4, "-n", 0, "-r", 1, "--depth", 4, "--json").json()
    assert "prompt_share_of_limit" not in deep and deep["results"][0]["sharesOfLimit"] == []


def test_bench_compares_engines_and_measures_the_machine(owml, gguf):
    arguments = ["bench", gguf, "-p", 8, "-n", 4, "-r", 2, "--engine", "native", "--compare", "llama"]
    report = owml(*arguments, "--json").json()
    assert (report["engine"], report["compared"]["engine"]) == ("native", "llama")
    assert report["isa"] in ("scalar", "avx2", "avx512")
    assert report["read_bandwidth_gb_per_second"] > 0 and report["int8_gops"] > 0
    for kind in ("prompt", "generation"):
        rates = [side[f"{kind}_tokens_per_second"] for side in (report, report["compared"])]
        assert report[f"{kind}_ratio"] == pytest.approx(rates[0] / rates[1])
    text = owml(*arguments).out
    assert "GB/s" in text and "native against llama" in text


@pytest.mark.parametrize("arguments", [["bench", "-p", 2, "-n", 0], ["generate", "hello", "-n", 1]])
def test_a_gpu_that_no_engine_offers_is_no_cpu(owml, gguf, arguments):
    done = owml(arguments[0], gguf, *arguments[1:], "--gpu")
    if done.code == 0:
        pytest.skip("an engine of this build has a GPU here")
    assert done.code == 1 and "no backend offers a GPU" in done.sentence()


def test_bench_tells_where_the_time_goes(owml, gguf, tmp_path):
    trace = tmp_path / "trace.json"
    arguments = ["bench", gguf, "-p", 8, "-n", 4, "-r", 1, "--engine", "native"]
    report = owml(*arguments, "--json", f"--profile={trace}").json()
    assert [profile["test"] for profile in report["profile"]] == ["pp8", "tg4"]
    for profile in report["profile"]:
        operations = profile["operations"]
        assert sum(operation["share"] for operation in operations) == pytest.approx(1)
        times = [operation["milliseconds"] for operation in operations]
        assert sum(times) == pytest.approx(profile["milliseconds"]) and times == sorted(times, reverse=True)
        head = next(operation for operation in operations if operation["name"] == "head")
        assert head["gops"] > 0 and head["gb_per_second"] > 0
        # A run gives the logits of its last token.
        assert head["calls"] == (1 if profile["test"] == "pp8" else 4)
    assert 0 < report["work_buffer_bytes"]["reserved"] < report["work_buffer_bytes"]["unshared"]

    events = json.loads(trace.read_text())["traceEvents"]
    assert {event["args"]["name"] for event in events if event["name"] == "process_name"} == {"pp8", "tg4"}
    spans = [event for event in events if event["ph"] == "X"]
    for process, profile in enumerate(report["profile"]):
        whole = [event["dur"] for event in spans if event["pid"] == process and event["tid"] == 0]
        assert sum(whole) / 1000 == pytest.approx(profile["milliseconds"])
        assert len(whole) == sum(operation["calls"] for operation in profile["operations"])

    table = owml(*arguments, "--profile").out
    assert "pp8: " in table and "gate + up" in table and "GB/s" in table
    assert "gate + up" not in owml(*arguments).out


def test_bench_profiles_only_engines_that_can_tell(owml, gguf):
    done = owml("bench", gguf, "-p", 2, "-n", 0, "-r", 1, "--engine", "llama", "--profile")
    assert done.code == 1 and "cannot tell where the time of its runs goes" in done.sentence()


@pytest.mark.parametrize("kind", ["f16", "bf16", "q8_0"])
def test_bench_takes_the_type_of_the_cache_that_is_named(owml, gguf, kind):
    arguments = ["bench", gguf, "-p", 4, "-n", 0, "-r", 1, "--engine", "native", "--kv-cache", kind]
    assert owml(*arguments, "--json").json()["kvCache"] == kind
    assert f"keys and values in {kind}" in owml(*arguments).out


def test_a_type_of_cache_that_the_engine_does_not_have_is_refused(owml, gguf):
    done = owml("bench", gguf, "-p", 4, "-n", 0, "-r", 1, "--engine", "native", "--kv-cache", "f32")
    assert done.code == 1 and "not in float32" in done.sentence()
    assert owml("generate", gguf, "hello", "-n", 1, "--kv-cache", "q3").code == 2


def test_bench_measures_behind_a_depth(owml, gguf):
    report = owml("bench", gguf, "-p", 4, "-n", 3, "-r", 1, "--depth", 20, "--json").json()
    assert [row["test"] for row in report["results"]] == ["pp4 @ d20", "tg3 @ d20"]
    assert report["depth"] == 20


@pytest.mark.parametrize("engine", ["native", "llama"])
def test_bench_runs_the_engine_that_is_named(owml, gguf, engine):
    report = owml("bench", gguf, "-p", 2, "-n", 0, "-r", 1, "--engine", engine, "--json").json()
    assert report["engine"] == engine and "generation_tokens_per_second" not in report


def first_processor():
    import os

    return str(min(os.sched_getaffinity(0)))


def test_bench_tells_of_threads_that_were_asked_for_and_not_started(owml, gguf):
    arguments = ("bench", gguf, "--engine", "native", "-p", 1, "-n", 0, "-r", 1, "-t", 16)
    prefix = ["taskset", "-c", first_processor()]
    report = owml(*arguments, "--json", prefix=prefix).json()
    assert report["threads"] == 1 and report["threadsAsked"] == 16
    assert "1 thread (16 were asked for" in owml(*arguments, prefix=prefix).out


def test_one_processor_means_one_thread_for_both_backends(owml, gguf, mixing_model):
    prefix = ["taskset", "-c", first_processor()]
    assert owml("bench", gguf, "-p", 1, "-n", 0, "-r", 1, "-t", 0, "--json", prefix=prefix).json()["threads"] == 1
    assert owml("run", mixing_model, "-t", 0, "--json", prefix=prefix).json()["threads"] == 1
    assert "usable threads: 1\n" in owml("--version", prefix=prefix).out


def test_a_thread_count_that_is_given_is_the_one_in_effect(owml, gguf, mixing_model):
    assert owml("bench", gguf, "-p", 1, "-n", 0, "-r", 1, "-t", 2, "--json").json()["threads"] == 2
    assert owml("run", mixing_model, "-t", 2, "--json").json()["threads"] == 2
    assert owml("run", mixing_model, "--json", env={"OWML_THREADS": "4"}).json()["threads"] == 4


def test_a_reader_that_leaves_ends_the_command(gguf):
    """As `owml generate ... | head -c 1` does."""
    running = subprocess.Popen(
        [command(), "generate", gguf, "Once upon a time", "-n", "400"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
    )
    assert running.stdout.read(1)
    running.stdout.close()
    assert running.wait(timeout=60) != 0
