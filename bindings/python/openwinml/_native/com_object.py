# Native objects written in Python: one method table for each class, instances found again by their address.
# Subclassed by processors, resource maps and buffer owners of this package.
"""COM objects made of Python methods."""

from __future__ import annotations

import atexit
import ctypes
import functools
import uuid
from typing import Any, Dict, List, Tuple

from . import library
from .errors import E_FAIL, E_NOINTERFACE, E_OUTOFMEMORY, E_POINTER, WinMLError, callback_state
from .interfaces import COUNT_REFERENCES, IUNKNOWN, POINTER_SIZE, QUERY_INTERFACE, interface
from .reference import Reference

#: Objects with native references, by address. This is what keeps them alive.
_alive: Dict[int, "ComObject"] = {}


def write(address: Any, kind: Any, value: Any) -> None:
    """Stores a value through an out pointer that native code passed."""
    if not address:
        raise WinMLError(E_POINTER, "a required pointer was null")
    kind.from_address(address).value = value


class ComObject:
    """Subclass, set `interface_name` and define its methods by name.

    A method gets raw numbers and addresses. It may return an HRESULT; None is S_OK; an exception becomes a failing one
    and the sentence of the thread's error object.
    """

    interface_name = "IUnknown"
    _table: Any = None

    def __init__(self) -> None:
        cls = type(self)
        if "_table" not in cls.__dict__:
            cls._table = _make_table(cls)
        self._memory = ctypes.c_void_p(ctypes.addressof(cls._table))
        # Counting by append and pop: each is one step for every thread, where `count += 1` is not.
        self._references: List[None] = [None]
        self._address = ctypes.addressof(self._memory)
        _alive[self._address] = self

    def take_reference(self) -> Reference:
        """The reference that construction counted; call once."""
        return Reference(self._address, self.interface_name)

    def _query(self, iid: int, out: int) -> int:
        if not out:
            return E_POINTER
        answer = ctypes.c_void_p.from_address(out)
        answer.value = None
        if not iid:
            return E_POINTER
        wanted = uuid.UUID(bytes_le=ctypes.string_at(iid, 16))
        if wanted not in (interface(self.interface_name).uuid, uuid.UUID(IUNKNOWN)):
            return E_NOINTERFACE
        self._add_reference()
        answer.value = self._address
        return 0

    def _add_reference(self) -> int:
        self._references.append(None)
        return len(self._references)

    def _drop_reference(self) -> int:
        self._references.pop()
        left = len(self._references)
        if not left and _alive.pop(self._address, None) is not None:
            self.released()
        return left

    def released(self) -> None:
        """Called when the last native reference has gone."""


def _signed(hresult: int) -> int:
    return hresult - (1 << 32) if hresult >= (1 << 31) else hresult


def _record(error: BaseException) -> int:
    """Keeps an exception for the Python caller and its sentence for the native ones; returns the HRESULT."""
    callback_state.exception = error
    if isinstance(error, WinMLError):
        code, sentence = error.hresult, error.native_message or str(error)
    else:
        code = E_OUTOFMEMORY if isinstance(error, MemoryError) else E_FAIL
        sentence = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    try:
        _forget_sentence_at_exit()
        information = ErrorSentence(sentence).take_reference()
        library.runtime().SetErrorInfo(0, information)
    except Exception:  # the code is enough when there is no memory left for words
        pass
    return _signed(code)


@functools.cache
def _forget_sentence_at_exit() -> None:
    # the thread's slot outlives the interpreter, and an object written in Python must not
    atexit.register(library.runtime().SetErrorInfo, 0, None)


def _make_table(cls: type) -> Any:
    def guarded(name: str) -> Any:
        method = getattr(cls, name)

        def entry(this: int, *arguments: Any) -> int:
            try:
                return _signed(method(_alive[this], *arguments) or 0)
            except BaseException as error:
                return _record(error)

        return entry

    described = interface(cls.interface_name)  # type: ignore[attr-defined]
    thunks: List[Tuple[int, Any]] = [
        (0, QUERY_INTERFACE(guarded("_query"))),
        (1, COUNT_REFERENCES(lambda this: _alive[this]._add_reference())),
        (2, COUNT_REFERENCES(lambda this: _alive[this]._drop_reference())),
    ]
    thunks += [(slot, kind(guarded(name))) for name, (slot, kind) in described.methods.items()]
    table: Any = (ctypes.c_void_p * (described.vtable_bytes // POINTER_SIZE))()
    for slot, thunk in thunks:
        table[slot] = ctypes.cast(thunk, ctypes.c_void_p).value
    table.thunks = thunks  # the table needs its functions as long as it exists, which is for ever
    return table


class ErrorSentence(ComObject):
    """The error object that carries the sentence of a Python exception to the native caller."""

    interface_name = "IErrorInfo"

    def __init__(self, sentence: str) -> None:
        super().__init__()
        self._sentence = sentence

    def _give(self, out: int, text: str) -> None:
        write(out, ctypes.c_void_p, library.runtime().SysAllocStringLen(text, len(text)))

    def GetGUID(self, guid: int) -> None:
        if not guid:
            raise WinMLError(E_POINTER, "guid was null")
        ctypes.memset(guid, 0, 16)

    def GetSource(self, source: int) -> None:
        self._give(source, "openwinml (Python)")

    def GetDescription(self, description: int) -> None:
        self._give(description, self._sentence)

    def GetHelpFile(self, file: int) -> None:
        write(file, ctypes.c_void_p, None)

    def GetHelpContext(self, context: int) -> None:
        write(context, ctypes.c_uint32, 0)


class Keeper(ComObject):
    """An IUnknown that does one thing: when the last reference goes, it releases what it keeps."""

    def __init__(self, kept: Any) -> None:
        super().__init__()
        self._kept = kept

    def released(self) -> None:
        kept, self._kept = self._kept, None
        kept.release()
