# What the objects of one Runtime share: the native runtime and the CPU target for calls that name none.
# Handed from wrapper to wrapper inside this folder.
"""The runtime behind a wrapper."""

from __future__ import annotations

from typing import Any, Optional

from .._native.reference import Reference


class Context:
    """Lives as long as the last wrapper that came from its Runtime, so a tensor works after the Runtime is closed."""

    __slots__ = ("runtime", "_cpu_target", "_factories")

    def __init__(self, runtime: Reference) -> None:
        self.runtime = runtime
        self._cpu_target: Optional[Reference] = None
        self._factories: "dict[str, Reference]" = {}

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
