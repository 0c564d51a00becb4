# What the objects of one Runtime share: the native runtime and the CPU target for calls that name none.
# Handed from wrapper to wrapper inside this folder.
"""The runtime behind a wrapper."""

from __future__ import annotations

from typing import Any, Dict, Optional, Type, TypeVar

from .._native.reference import Reference
from .._native.wrapper import NativeObject

Self = TypeVar("Self", bound="ContextObject")


class Context:
    """Lives as long as the last wrapper that came from its Runtime, so a tensor works after the Runtime is closed."""

    __slots__ = ("runtime", "_cpu_target", "_factories")

    def __init__(self, runtime: Reference) -> None:
        self.runtime = runtime
        self._cpu_target: Optional[Reference] = None
        self._factories: Dict[str, Reference] = {}

    def cpu_target(self) -> Reference:
        target = self._cpu_target
        if target is None:
            target = self.runtime.create("CreateCpuExecutionTarget", "IWinMLExecutionTarget")
            self._cpu_target = target
        return target

    def factory(self, target: Any, interface: str) -> Reference:
        """A factory of an ExecutionTarget, or of the shared CPU target for None."""
        from ._target import ExecutionTarget

        if target is not None:
            if not isinstance(target, ExecutionTarget):
                raise TypeError(f"target must be an ExecutionTarget or None, not {type(target).__name__}")
            return target._interface(interface)
        found = self._factories.get(interface)
        if found is None:
            found = self._factories[interface] = self.cpu_target().query(interface)
        return found


class ContextObject(NativeObject):
    """A wrapper that knows the runtime it came from, until it is closed."""

    _shared: Optional[Context] = None

    @classmethod
    def _of(cls: Type[Self], reference: Reference, context: Context) -> Self:
        made = cls._adopt(reference)
        made._shared = context
        return made

    @property
    def _context(self) -> Context:
        shared = self._shared
        if shared is None:
            self._native  # raises: only a closed object has none
            raise AssertionError("an open object has a runtime")
        return shared

    def close(self) -> None:
        super().close()
        self._shared = None
