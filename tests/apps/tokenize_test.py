# `owml tokenize`: texts from each place, ids back to text, JSON, mistakes.
# Run by ctest through pytest; the oracle is Hugging Face's tokenizers on a vocabulary trained here.
"""Tests of owml tokenize."""

import json

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

TEXT = "Hello, wörld 😊\n\ttwo  lines<|end|>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model folder with a byte-level tokenizer.json that frames a text by special tokens."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<|start|>", "<|end|>"], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(["Hello hello hello two lines two lines world"] * 3, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single="<|start|> $A", special_tokens=[("<|start|>", 0)])
    path = tmp_path_factory.mktemp("model")
    tokenizer.save(str(path / "tokenizer.json"))
    return path


@pytest.fixture(scope="module")
def oracle(folder):
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


def test_ids_are_those_of_the_vocabulary_with_and_without_the_frame(owml, folder, oracle):
    for flag, special in (([], True), (["--add-special"], True), (["--no-special"], False)):
        done = owml("tokenize", folder / "tokenizer.json", TEXT, "--ids", *flag)
        assert (done.code, done.err) == (0, "")
        assert list(map(int, done.out.split())) == oracle.encode(TEXT, add_special_tokens=special).ids


def test_a_folder_a_file_and_standard_input_give_the_same_tokens(owml, folder, tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text(TEXT, encoding="utf-8")
    expected = owml("tokenize", folder, TEXT, "--ids").out
    assert owml("tokenize", folder, "--file", notes, "--ids").out == expected
    assert owml("tokenize", folder, "--ids", stdin=TEXT).out == expected
    assert owml("tokenize", folder, "-", "--ids", stdin=TEXT).out == expected


def test_places_cover_the_text_and_special_tokens_are_marked(owml, folder, oracle):
    report = owml("tokenize", folder, TEXT, "--json").json()
    ids = oracle.encode(TEXT).ids
    assert report["ids"] == ids and report["count"] == len(ids)
    assert [token["id"] for token in report["tokens"]] == ids
    text = oracle.decode(ids, skip_special_tokens=False)
    assert "".join(token["text"] for token in report["tokens"]) == text
    data, at = text.encode(), 0
    for token in report["tokens"]:
        assert token["begin"] == at
        at = token["end"]
        assert data[token["begin"] : at].decode() == token["text"]
    assert at == len(data)
    assert [token["text"] for token in report["tokens"] if token["special"]] == ["<|start|>", "<|end|>"]


def test_the_table_shows_each_token_and_the_count_goes_to_standard_error(owml, folder, oracle):
    done = owml("tokenize", folder, "Hello\n")
    ids = oracle.encode("Hello\n").ids
    assert done.code == 0
    assert len(done.out.splitlines()) == 1 + len(ids)
    assert "'<|start|>' special" in done.out and "'\\n'" in done.out
    assert done.err == f"{len(ids)} tokens\n"
    assert "\x1b" not in done.out


def test_counting_alone_prints_a_number(owml, folder, oracle):
    assert owml("tokenize", folder, TEXT, "--count").out == f"{len(oracle.encode(TEXT).ids)}\n"
    assert owml("tokenize", folder, "--count", "--no-special", stdin="").out == "0\n"


def test_ids_become_text_again(owml, folder, oracle):
    ids = oracle.encode(TEXT).ids
    listed = " ".join(map(str, ids))
    assert owml("tokenize", folder, "--decode", listed).out == "<|start|>" + TEXT
    assert owml("tokenize", folder, "--decode", listed, "--no-special").out == TEXT.replace("<|end|>", "")
    assert owml("tokenize", folder, "--decode", "-", stdin=json.dumps(ids)).out == "<|start|>" + TEXT
    assert owml("tokenize", folder, "--decode", listed, "--json").json()["count"] == len(ids)


@pytest.mark.parametrize(
    "arguments, word",
    [
        (["--decode", "1 x"], "'x'"),
        (["--decode", "-1"], "'-1'"),
        (["--decode", "99999999999"], "'99999999999'"),
        (["text", "--file", "x"], "excludes"),
        (["text", "--decode", "1"], "excludes"),
        (["text", "--ids", "--count"], "excludes"),
    ],
)
def test_wrong_usage_is_named(owml, folder, arguments, word):
    done = owml("tokenize", folder, *arguments)
    assert (done.code, done.out) == (2, "")
    assert word in done.err


def test_unknown_ids_broken_text_and_missing_files_are_failures(owml, folder, tmp_path):
    assert "70000" in owml("tokenize", folder, "--decode", "70000").sentence()
    done = owml("tokenize", folder, stdin=b"a\xff")
    assert done.code == 1 and "UTF-8" in done.sentence()
    done = owml("tokenize", folder, stdin=b"a\0b")
    assert done.code == 1 and "NUL at byte 1" in done.sentence()
    done = owml("tokenize", folder, "--file", tmp_path / "none.txt")
    assert done.code == 1 and "none.txt" in done.sentence()
    done = owml("tokenize", tmp_path / "none.gguf", "x", "--json")
    assert done.code == 1 and done.json()["error"]["hresult"] == "0x80070002"


def test_a_gguf_vocabulary_is_read_as_well(owml, gguf):
    assert owml("tokenize", gguf, "Hello world", "--ids", "--no-special").out == "19556 905\n"
