# What only ONNX stages offer: bindings by name, options of the session, which provider was chosen.
# Reached from Stage.
"""OrtNamedBindings, OrtStageOptions, OrtStageDiagnostics."""

from __future__ import annotations

import ctypes
from typing import Any, Mapping, Optional

from .. import _arguments as check
from .._native.wrapper import NativeObject, reference_of
from ._context import ContextObject
from ._tensor import Tensor


class OrtNamedBindings(ContextObject):
    def bind_input(self, name: str, tensor: Tensor) -> None:
        self._native.call("BindInputByName", check.text(name, "name"), reference_of(tensor, Tensor, "tensor"))

    def bind_output(self, name: str, tensor: Tensor) -> None:
        self._native.call("BindOutputByName", check.text(name, "name"), reference_of(tensor, Tensor, "tensor"))

    def output(self, name: str) -> Tensor:
        found = self._native.create("GetOutputByName", "IWinMLTensor", check.text(name, "name"))
        return Tensor._of(found, self._context)


class OrtStageOptions(NativeObject):
    """Options of the ONNX Runtime session, to be set before the pipeline is built."""

    def set_provider_option(self, key: str, value: str) -> None:
        self._native.call("SetProviderOption", check.text(key, "key", empty=False), check.text(value, "value"))

    def set_session_config(self, key: str, value: str) -> None:
        self._native.call("SetSessionConfigEntry", check.text(key, "key", empty=False), check.text(value, "value"))

    def set_provider_options(self, options: Mapping[str, str]) -> None:
        for key, value in _entries(options, "options"):
            self.set_provider_option(key, value)

    def set_session_config_entries(self, entries: Mapping[str, str]) -> None:
        for key, value in _entries(entries, "entries"):
            self.set_session_config(key, value)

    def set_shared_context_group(self, group_name: str) -> None:
        self._native.call("SetSharedContextGroup", check.text(group_name, "group_name", empty=False))

    def clear_shared_context_group(self) -> None:
        self._native.call("ClearSharedContextGroup")


class OrtStageDiagnostics(NativeObject):
    """Which execution provider was asked for and which one runs, known after the pipeline is built."""

    @property
    def requested_provider(self) -> Optional[str]:
        return self._native.text("GetRequestedProviderName")

    @property
    def selected_provider(self) -> Optional[str]:
        return self._native.text("GetSelectedProviderName")

    @property
    def is_provider_pinned(self) -> bool:
        return bool(self._native.get("IsProviderPinned", ctypes.c_int32))


def _entries(values: Any, name: str) -> "list[tuple[str, str]]":
    """The entries of a mapping, all of them checked before the first one is applied."""
    if not isinstance(values, Mapping):
        raise TypeError(f"{name} must be a mapping, not {type(values).__name__}")
    return [
        (check.text(key, f"key of {name}", empty=False), check.text(value, f"{name}[{key!r}]"))
        for key, value in values.items()
    ]
