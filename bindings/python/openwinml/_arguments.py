# Checks of what callers pass, before anything native runs: ValueError for a bad value, TypeError for a wrong kind.
# Used by the public modules of this package.
"""Argument checks."""

from __future__ import annotations

import enum
import math
import operator
import os
from typing import Any, Iterable, Mapping, Optional, Sequence, Tuple, Type, TypeVar

E = TypeVar("E", bound=enum.IntEnum)
T = TypeVar("T")

UINT32_MAX = (1 << 32) - 1
UINT64_MAX = (1 << 64) - 1


def unsigned(value: Any, name: str, limit: int = UINT32_MAX, least: int = 0) -> int:
    """An integer from `least` to `limit`; anything with __index__ will do."""
    return integer(value, name, least, limit)


def unsigned64(value: Any, name: str) -> int:
    return integer(value, name, 0, UINT64_MAX)


def integer(value: Any, name: str, least: int, limit: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}") from None
    if not least <= number <= limit:
        raise ValueError(f"{name} must be from {least} to {limit}, not {number}")
    return number


def integers(values: Any, name: str, limit: int = UINT32_MAX, least: int = 0) -> Tuple[int, ...]:
    """A tuple of integers from any iterable but text."""
    if isinstance(values, (str, bytes, bytearray)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a sequence of integers, not {type(values).__name__}")
    return tuple(integer(value, f"{name}[{i}]", least, limit) for i, value in enumerate(values))


def real(value: Any, name: str, least: float = -math.inf, finite: bool = True) -> float:
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    try:
        number = float(value)
    except TypeError:
        raise TypeError(f"{name} must be a number, not {type(value).__name__}") from None
    if (finite and not math.isfinite(number)) or not number >= least:
        raise ValueError(
            f"{name} must be {'a finite number' if least == -math.inf else f'at least {least}'}, not {number}"
        )
    return number


def reals(values: Any, name: str, count: int) -> Tuple[float, ...]:
    """A tuple of exactly `count` finite numbers."""
    if isinstance(values, (str, bytes, bytearray)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a sequence of {count} numbers, not {type(values).__name__}")
    found = tuple(real(value, f"{name}[{i}]") for i, value in enumerate(values))
    if len(found) != count:
        raise ValueError(f"{name} must have {count} numbers, not {len(found)}")
    return found


def flag(value: Any, name: str) -> bool:
    """True or False; integers and other things that merely count as true are a mistake."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    raise TypeError(f"{name} must be True or False, not {type(value).__name__}")


def text(value: Any, name: str, empty: bool = True) -> str:
    """A string that a wide, terminated one can carry."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, not {type(value).__name__}")
    if "\0" in value:
        raise ValueError(f"{name} must not contain a null character")
    if not value and not empty:
        raise ValueError(f"{name} must not be empty")
    return value


def optional_text(value: Any, name: str) -> Optional[str]:
    return None if value is None else text(value, name)


def path(value: Any, name: str) -> str:
    """A path as text; path objects are taken too."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name} must be a string or a path, not {type(value).__name__}")
    return text(os.fspath(value), name, empty=False)


def member(kind: Type[E], value: Any, name: str) -> E:
    """A member of an enum, given as such or by its number."""
    if isinstance(value, kind):
        return value
    if isinstance(value, (bool, enum.Enum)) or not isinstance(value, int):
        raise TypeError(f"{name} must be a {kind.__name__}, not {type(value).__name__}")
    try:
        return kind(value)
    except ValueError:
        raise ValueError(f"{name} must be a {kind.__name__}, and none has the value {value}") from None


def instance(value: Any, kind: Type[T], name: str) -> T:
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, not {type(value).__name__}")
    return value


def instances(values: Any, kind: Type[T], name: str) -> Tuple[T, ...]:
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a sequence of {kind.__name__}, not {type(values).__name__}")
    return tuple(instance(value, kind, f"{name}[{i}]") for i, value in enumerate(values))


def shape(value: Sequence[Any], name: str = "shape") -> Tuple[int, ...]:
    """Extents of a tensor, all of them known."""
    return integers(value, name, UINT64_MAX - 1)
