# Cancellation of long calls from another thread.
# Made by Tasks.create_cancellation_source.
"""CancellationSource."""

from __future__ import annotations

import ctypes

from .._native.wrapper import NativeObject


class CancellationSource(NativeObject):
    """Asks whatever it was given to to stop; any thread may do so."""

    def cancel(self) -> None:
        self._native.call("Cancel")

    @property
    def is_canceled(self) -> bool:
        return bool(self._native.get("GetIsCanceled", ctypes.c_int32))
