# Native objects written in Python that stand in for a target with factories, to see what the package passes to them.
# Used by the tests of marshalling that need no library.
"""A fake execution target."""

import ctypes
import uuid

from openwinml._native.com_object import ComObject, write
from openwinml._native.interfaces import interface, struct
from openwinml.runtime import ExecutionTarget
from openwinml.runtime._context import Context


class FakeTensor(ComObject):
    interface_name = "IWinMLTensor"

    def __init__(self, kind, shape):
        from openwinml.runtime._tensor import make_desc

        self.desc = make_desc(kind, shape)
        super().__init__()

    def GetDesc(self, desc):
        found = struct("WINML_TENSOR_DESC").from_address(desc)
        for field in ("dataType", "dimensionCount", "dimensions"):
            setattr(found, field, getattr(self.desc, field))

    def Lock(self, mode, flags, lock):
        return 0x80070032


class FakeTarget(ComObject):
    """Answers QueryInterface for its factories by handing out their objects."""

    interface_name = "IWinMLExecutionTarget"

    def __init__(self, **factories):
        self.factories = {interface(name).uuid: factory for name, factory in factories.items()}
        super().__init__()

    def GetKind(self, kind):
        write(kind, ctypes.c_int32, 1)

    def _query(self, iid, out):
        factory = self.factories.get(uuid.UUID(bytes_le=ctypes.string_at(iid, 16)))
        if factory is None:
            return super()._query(iid, out)
        factory._add_reference()
        ctypes.c_void_p.from_address(out).value = factory._address
        return 0


def target_with(**factories):
    """An ExecutionTarget of the package on top of a FakeTarget, and the context it belongs to."""
    context = Context(None)
    return ExecutionTarget._of(FakeTarget(**factories).take_reference(), context), context


def give(out, made):
    """Stores the reference of a new fake object."""
    write(out, ctypes.c_void_p, made.take_reference().detach())
