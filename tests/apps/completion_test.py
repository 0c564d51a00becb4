# The completion scripts, as the shell that they are for reads them.
# zsh and fish are tried where they are installed.
"""Tests of owml completion."""

import shutil
import subprocess

import pytest
from conftest import environment


def complete_in_bash(script, *words):
    """What bash offers for the last of `words`."""
    listed = " ".join(f"'{word}'" for word in words)
    source = f"{script}\nCOMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; _owml\n"
    source += "printf '%s\\n' \"${COMPREPLY[@]}\""
    return subprocess.run(["bash", "-c", source], capture_output=True, text=True, check=True).stdout.split()


def test_bash_completes_verbs_and_options(owml):
    done = owml("completion", "bash")
    assert (done.code, done.err) == (0, "")
    assert complete_in_bash(done.out, "owml", "ch") == ["chat"]
    assert set(complete_in_bash(done.out, "owml", "")) >= {"inspect", "run", "generate", "chat", "bench"}
    assert complete_in_bash(done.out, "owml", "chat", "--sys") == ["--system"]
    assert complete_in_bash(done.out, "owml", "bench", "--sys") == []
    assert complete_in_bash(done.out, "owml", "run", "mod") == []  # file names are the shell's


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_name_every_long_option_that_help_names(owml, shell):
    script = owml("completion", shell).out
    dashes = "-l " if shell == "fish" else "--"
    for option in ("output-dir", "max-tokens", "repetitions", "system", "json"):
        assert dashes + option in script


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_have_no_syntax_error(owml, shell, tmp_path):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / "script"
    path.write_text(owml("completion", shell).out)
    subprocess.run([shell, "-n", str(path)], check=True, env=environment())
