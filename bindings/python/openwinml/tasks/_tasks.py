# The entry object of the tasks.
# Constructed by applications from their Runtime.
"""Tasks."""

from __future__ import annotations

from .._native import library
from .._native.interfaces import interface
from .._native.reference import create_by_export
from .._native.wrapper import NativeInterface, NativeObject, reference_of
from ..runtime import Runtime
from ._cancellation import CancellationSource


class Tasks(NativeObject):
    """Makes the tasks that run on one Runtime."""

    def __init__(self, runtime: Runtime) -> None:
        owner = reference_of(runtime, Runtime, "runtime")
        create = library.function(library.tasks(), "WinMLCreateTasks", 3)
        name = "WinMLCreateTasks"
        self._hold(create_by_export(create, name, "IWinMLTasks", owner, interface("IWinMLTasks").iid))
        self._runtime = runtime

    @property
    def runtime(self) -> Runtime:
        """The Runtime these tasks were made for."""
        self._native
        return self._runtime

    def create_cancellation_source(self) -> CancellationSource:
        made = self._native.create("CreateCancellationSource", "IWinMLCancellationSource")
        return CancellationSource._adopt(made)

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

    def _factory(self, name: str) -> NativeInterface:
        return NativeInterface._adopt(self._native.query(name))
