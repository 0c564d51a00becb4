# What the objects of one Tasks object share, and the base of sessions and streams, which end natively as well.
# Handed from wrapper to wrapper inside this folder.
"""The task library behind a wrapper."""

from __future__ import annotations

from typing import Optional, Type, TypeVar

from .._native.reference import Reference
from .._native.wrapper import NativeObject, reference_of
from ..runtime import Runtime
from ..runtime._context import Context
from ._cancellation import CancellationSource

Self = TypeVar("Self", bound="TaskObject")
Stream = TypeVar("Stream", bound="StreamObject")


class TaskContext:
    """Lives as long as the last wrapper that came from its Tasks object."""

    __slots__ = ("tasks", "runtime", "runtime_context", "_text_factory")

    def __init__(self, tasks: Reference, runtime: Runtime) -> None:
        self.tasks = tasks
        self.runtime = runtime
        self.runtime_context: Context = runtime._context
        self._text_factory: Optional[Reference] = None

    def text_factory(self) -> Reference:
        found = self._text_factory
        if found is None:
            found = self._text_factory = self.tasks.query("IWinMLTextGenerationTaskFactory")
        return found

    def source(self, cancellation: Optional[CancellationSource]) -> Reference:
        """The native source of an operation: the caller's, or a new one for the stream's own cancel()."""
        if cancellation is not None:
            return reference_of(cancellation, CancellationSource, "cancellation")
        return self.tasks.create("CreateCancellationSource", "IWinMLCancellationSource")


class TaskObject(NativeObject):
    """A wrapper that knows the task library it came from."""

    _shared_tasks: Optional[TaskContext] = None

    @property
    def _tasks(self) -> TaskContext:
        shared = self._shared_tasks
        if shared is None:
            self._native  # raises: only a closed object has none
            raise AssertionError("an open object has a task library")
        return shared

    @classmethod
    def _in(cls: Type[Self], reference: Reference, tasks: TaskContext) -> Self:
        made = cls._adopt(reference)
        made._shared_tasks = tasks
        return made

    def close(self) -> None:
        super().close()
        self._shared_tasks = None


class EndingObject(TaskObject):
    """A session or a stream: close() ends it natively. What refuses to end stays open."""

    def close(self) -> None:
        if self._reference is not None:
            self._reference.call("Close")
        super().close()


class StreamObject(EndingObject):
    """A stream, with the source that cancels it."""

    _source: Optional[Reference] = None

    @classmethod
    def _reading(cls: Type[Stream], reference: Reference, tasks: TaskContext, source: Reference) -> Stream:
        made = cls._in(reference, tasks)
        made._source = source
        return made

    def cancel(self) -> None:
        """Ends the operation soon, from any thread; cancels the source that was given, if one was."""
        source = self._source
        if source is not None:
            source.call("Cancel")

    def close(self) -> None:
        super().close()
        self._source = None
