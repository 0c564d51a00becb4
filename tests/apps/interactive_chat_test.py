# Interactive `owml chat` at a pseudo-terminal: commands, Ctrl-C, Ctrl-D, colours.
# What the terminal shows is both streams, as a person sees them.
"""Tests of the interactive chat."""

import os
import pty
import re
import select
import signal
import time

import pytest
from conftest import PATIENCE_S, command, environment

PROMPT = "> "
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LONG_TASK = "Write a very long story about a dragon, with as many details as you can."


class Terminal:
    """A program at a pseudo-terminal of its own."""

    def __init__(self, *arguments, **extra):
        self.pid, self._file = pty.fork()
        if self.pid == 0:
            try:
                os.execve(command(), [command(), *arguments], environment(TERM="xterm", **extra))
            finally:
                os._exit(127)
        self.raw = ""
        self._at = 0

    @property
    def text(self):
        """Without colours, and without the waiting line, which takes itself away."""
        plain = COLOUR.sub("", self.raw)
        return re.sub(r"\r\x1b\[K(loading [^\r\n]*? \d+\.\d s)?", "", plain)

    def read(self, timeout):
        """Takes what is there within the time; False at the end of the program's output."""
        if not select.select([self._file], [], [], timeout)[0]:
            return True
        try:
            data = os.read(self._file, 65536)
        except OSError:
            return False
        self.raw += data.decode(errors="replace")
        return bool(data)

    def expect(self, pattern):
        """Waits for the pattern in what came since the last match; returns the match."""
        end = time.monotonic() + PATIENCE_S
        while True:
            found = re.compile(pattern).search(self.text, self._at)
            if found:
                self._at = found.end()
                return found
            if time.monotonic() > end or not self.read(1):
                pytest.fail(f"no {pattern!r} in {self.text[self._at:]!r}")

    def type(self, text):
        os.write(self._file, text.encode())

    def wait(self):
        """The exit code; the negative signal for a program that a signal ended."""
        end = time.monotonic() + PATIENCE_S
        while self.read(0.1) and time.monotonic() < end:
            pass
        while time.monotonic() < end:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.02)
        pytest.fail(f"the program does not end: {self.text!r}")

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._file)


@pytest.fixture
def chat(gguf):
    """Starts a chat and waits for its prompt."""
    opened = []

    def start(*arguments, **extra):
        terminal = Terminal("chat", gguf, *arguments, **extra)
        opened.append(terminal)
        terminal.expect(r"/reset starts over, /exit or Ctrl-D leaves, Ctrl-C stops an answer")
        terminal.expect(PROMPT)
        return terminal

    yield start
    for terminal in opened:
        terminal.close()


def test_questions_are_answered_until_exit(chat):
    terminal = chat("--seed", "1")
    terminal.type("What is 2+2?\n")
    terminal.expect(r"4[^\r\n]*\r\n")
    terminal.expect(PROMPT)
    terminal.type("/exit\n")
    assert terminal.wait() == 0


def test_end_of_input_leaves(chat):
    terminal = chat()
    terminal.type("\x04")
    assert terminal.wait() == 0


def test_the_conversation_is_remembered_until_reset(chat):
    terminal = chat("--stats", "-n", "4")

    def cached(question):
        terminal.type(question + "\n")
        found = terminal.expect(r"prompt (\d+) tokens \((\d+) cached")
        terminal.expect(PROMPT)
        return int(found[1]), int(found[2])

    first, _ = cached("My name is Ada.")
    second, kept = cached("What is my name?")
    assert second > first and kept >= first
    terminal.type("/reset\n")
    terminal.expect(r"\[new conversation\]")
    terminal.expect(PROMPT)
    assert cached("My name is Ada.")[0] == first
    terminal.type("/exit\n")
    assert terminal.wait() == 0


def test_an_unknown_command_is_not_sent_to_the_model(chat):
    terminal = chat()
    terminal.type("/help\n")
    terminal.expect(r"owml: unknown command /help; there are /reset, /save FILE, ")
    terminal.expect(PROMPT)
    terminal.type("\x04")
    assert terminal.wait() == 0


def test_interrupting_stops_the_answer_and_not_the_program(chat):
    terminal = chat("-n", "4000")
    terminal.type(LONG_TASK + "\n")
    terminal.expect(r"details as you can\.\r\n\s*\w+ \w+")  # the echo, then words of the answer
    terminal.type("\x03")
    terminal.expect(r"\[cancelled\]")
    terminal.expect(PROMPT)
    terminal.type("/exit\n")
    assert terminal.wait() == 0


def test_interrupting_at_the_prompt_leaves_with_130(chat):
    terminal = chat()
    terminal.type("\x03")
    assert terminal.wait() == 130


def test_interrupting_again_and_again_leaves_with_130(chat):
    terminal = chat("-n", "4000")
    terminal.type("Repeat after me: " + "many long words, " * 80 + "\n")  # a prompt that takes a while
    terminal.expect(r"many long words, \r\n")
    end = time.monotonic() + PATIENCE_S
    while not os.waitid(os.P_PID, terminal.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        assert time.monotonic() < end, terminal.text
        os.kill(terminal.pid, signal.SIGINT)
        terminal.read(0.1)
    assert terminal.wait() == 130


def test_interrupting_a_single_answer_leaves_with_130(gguf):
    terminal = Terminal("generate", gguf, "Once upon a time", "-n", "4000")
    try:
        terminal.expect(r"\w+ \w+")
        terminal.type("\x03")
        assert terminal.wait() == 130
        assert "[cancelled]" in terminal.text
    finally:
        terminal.close()


@pytest.mark.parametrize("off", [{"NO_COLOR": "1"}, "--no-color"])
def test_colours_can_be_turned_off(chat, off):
    coloured = chat()
    assert COLOUR.search(coloured.raw)
    plain = chat(off) if isinstance(off, str) else chat(**off)
    assert not COLOUR.search(plain.raw)


def test_a_conversation_can_come_from_a_pipe(owml, gguf):
    done = owml("chat", gguf, "-n", 3, stdin="What is 2+2?\n/reset\nWhat is 2+2?\n/exit\nnever read\n")
    assert done.code == 0
    first, second = done.out.splitlines()
    assert first == second
    assert done.err.count("[new conversation]") == 1
    assert "> " not in done.err
