# The entry object of the tasks.
# Constructed by applications from their Runtime.
"""Tasks."""

from __future__ import annotations

from typing import Iterable, Optional

from .. import _arguments as check
from .._native import library
from .._native.interfaces import interface
from .._native.memory import unsigned_array
from .._native.reference import create_by_export
from .._native.wrapper import NativeInterface, NativeObject, reference_of
from ..runtime import Runtime, Tokenizer
from ._cancellation import CancellationSource
from ._chat import ChatCompletionTask, make_chat_task
from ._configuration import TextGenerationConfiguration
from ._context import TaskContext
from ._text import TextGenerationSession, TextGenerationTask

_EOS_OF_THE_TOKENIZER = 0
_EOS_GIVEN = 1


class Tasks(NativeObject):
    """Makes the tasks that run on one Runtime."""

    def __init__(self, runtime: Runtime) -> None:
        owner = reference_of(runtime, Runtime, "runtime")
        create = library.function(library.tasks(), "WinMLCreateTasks", 3)
        name = "WinMLCreateTasks"
        self._hold(create_by_export(create, name, "IWinMLTasks", owner, interface("IWinMLTasks").iid))
        self._runtime = runtime
        self._context: Optional[TaskContext] = TaskContext(self._native, runtime)

    @property
    def runtime(self) -> Runtime:
        """The Runtime these tasks were made for."""
        self._native
        return self._runtime

    def create_cancellation_source(self) -> CancellationSource:
        made = self._native.create("CreateCancellationSource", "IWinMLCancellationSource")
        return CancellationSource._adopt(made)

    def create_text_generation_configuration(self) -> TextGenerationConfiguration:
        factory = self._interface("IWinMLTextGenerationTaskFactory")
        made = factory.create("CreateTextGenerationConfiguration", "IWinMLTextGenerationConfiguration")
        return TextGenerationConfiguration._of(made, self._open().runtime_context)

    def create_text_generation_task(
        self,
        tokenizer: Tokenizer,
        eos_token_ids: Optional[Iterable[int]] = None,
        *,
        default_configuration: Optional[TextGenerationConfiguration] = None,
    ) -> TextGenerationTask:
        """A task whose answers end at these tokens, or at those that the tokenizer names."""
        native = reference_of(tokenizer, Tokenizer, "tokenizer")
        if default_configuration is not None:
            reference_of(default_configuration, TextGenerationConfiguration, "default_configuration")
        ids = None if eos_token_ids is None else check.integers(eos_token_ids, "eos_token_ids")
        policy = _EOS_OF_THE_TOKENIZER if ids is None else _EOS_GIVEN
        factory = self._interface("IWinMLTextGenerationTaskFactory")
        arguments = native, policy, len(ids or ()), unsigned_array(ids) if ids else None
        made = factory.create("CreateTextGenerationTask", "IWinMLTextGenerationTask", *arguments)
        task = TextGenerationTask._in(made, self._open())
        task._tokenizer, task._default_configuration = tokenizer, default_configuration
        return task

    def create_chat_completion_task(
        self, tokenizer: Tokenizer, *, default_text_generation_session: Optional[TextGenerationSession] = None
    ) -> ChatCompletionTask:
        """NotSupportedError when the tokenizer has no chat template."""
        native = reference_of(tokenizer, Tokenizer, "tokenizer")
        session = default_text_generation_session
        if session is not None:
            reference_of(session, TextGenerationSession, "default_text_generation_session")
        factory = self._interface("IWinMLChatCompletionTaskFactory")
        made = factory.create("CreateChatCompletionTask", "IWinMLChatCompletionTask", native)
        return make_chat_task(made, self._open(), tokenizer, session)

    @property
    def text_generation_factory_interface(self) -> NativeInterface:
        """The native factory, to be handed to other libraries."""
        return self._factory("IWinMLTextGenerationTaskFactory")

    @property
    def chat_factory_interface(self) -> NativeInterface:
        return self._factory("IWinMLChatCompletionTaskFactory")

    @property
    def automatic_speech_recognition_factory_interface(self) -> NativeInterface:
        return self._factory("IWinMLAutomaticSpeechRecognitionTaskFactory")

    def close(self) -> None:
        super().close()
        self._context = None

    def _open(self) -> TaskContext:
        self._native
        assert self._context is not None  # until close()
        return self._context

    def _factory(self, name: str) -> NativeInterface:
        return NativeInterface._adopt(self._native.query(name))
