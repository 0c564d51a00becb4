# Token ids to tensors and back through a target's text factory.
# Used by Runtime.tensor_from_tokens and its relatives, and by Tensor.token_ids.
"""Token tensors."""

from __future__ import annotations

import ctypes
from typing import Any, List

from .. import _arguments as check
from .._native.interfaces import struct
from .._native.memory import take_unsigned_array, unsigned_array
from .._native.wrapper import reference_of
from ._context import Context
from ._records import TokenTensorOptions
from ._tensor import Tensor

_FACTORY = "IWinMLTextTensorFactory"


def create(context: Context, token_ids: Any, options: Any, target: Any) -> Tensor:
    chosen = TokenTensorOptions() if options is None else check.instance(options, TokenTensorOptions, "options")
    ids = check.integers(token_ids, "token_ids")
    desc = struct("WINML_TOKEN_TENSOR_DESC")()
    desc.dataType, desc.batchSize = chosen.data_type, 1
    factory = context.factory(target, _FACTORY)
    arguments = (unsigned_array(ids), len(ids), ctypes.byref(desc))
    return Tensor._of(factory.create("CreateTokenTensor", "IWinMLTensor", *arguments), context)


def read(context: Context, tensor: Any, target: Any) -> List[int]:
    native = reference_of(tensor, Tensor, "tensor")
    count, ids = ctypes.c_uint32(), ctypes.c_void_p()
    factory = context.factory(target, _FACTORY)
    factory.call("ReadTokenIdsFromTensor", native, ctypes.byref(count), ctypes.byref(ids))
    return take_unsigned_array(ids.value, count.value)
