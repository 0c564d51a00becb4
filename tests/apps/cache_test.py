# `owml cache`: what the native engine keeps between runs, listed and removed.
# Run by ctest through pytest.
"""Tests of owml cache."""

import os


def test_packed_weights_are_kept_listed_and_cleared(owml, tmp_path, gguf):
    settings = {"OWML_CACHE_DIR": os.fspath(tmp_path), "OWML_PACKED_CACHE": "on", "OWML_ENGINE": "native"}
    assert owml("cache", "show", "--json", env=settings).json()["files"] == []
    first = owml("generate", gguf, "The sky is", "-n", "6", env=settings)
    assert first.code == 0
    report = owml("cache", "show", "--json", env=settings).json()
    assert [entry["source"] for entry in report["files"]] == [gguf]
    assert report["bytes"] == os.path.getsize(report["files"][0]["file"])
    assert os.path.basename(gguf) in owml("cache", "show", env=settings).out
    assert owml("generate", gguf, "The sky is", "-n", "6", env=settings).out == first.out
    assert owml("cache", "clear", "--json", env=settings).json()["removedFiles"] == 1
    assert owml("cache", "show", "--json", env=settings).json()["files"] == []


def test_switched_off_nothing_is_kept(owml, tmp_path, gguf):
    settings = {"OWML_CACHE_DIR": os.fspath(tmp_path), "OWML_PACKED_CACHE": "off", "OWML_ENGINE": "native"}
    assert owml("generate", gguf, "The sky is", "-n", "1", env=settings).code == 0
    assert os.listdir(tmp_path) == []


def test_a_home_that_cannot_be_written_means_running_without(owml, tmp_path, gguf):
    (tmp_path / "file").write_text("x")
    settings = {"OWML_CACHE_DIR": os.fspath(tmp_path / "file"), "OWML_PACKED_CACHE": "on", "OWML_ENGINE": "native"}
    done = owml("generate", gguf, "The sky is", "-n", "1", env={**settings, "OWML_LOG": "warning"})
    assert done.code == 0
    assert done.err.count("packed weights are not kept") == 1
