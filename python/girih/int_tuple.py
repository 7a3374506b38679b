"""What of pycute's int tuples concerns Python's objects alone."""

from __future__ import annotations

from abc import ABCMeta

# Importing typing takes longer than all of this package.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _IntegerMeta(ABCMeta):
    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, int) and other is not bool

    def __instancecheck__(cls, value: object) -> bool:
        return cls.__subclasscheck__(type(value))


class Integer(metaclass=_IntegerMeta):
    """What counts as a whole number: ``int``, but not ``bool``."""


def is_int(x: object) -> bool:
    """Whether ``x`` is a whole number; truth values are none."""
    return isinstance(x, Integer)


def is_tuple(x: object) -> bool:
    """Whether ``x`` is a tuple."""
    return isinstance(x, tuple)


def signum(a: Any) -> int:
    """-1, 0 or 1, by the sign of ``a``."""
    return int(a > 0) - int(a < 0)


def has_none(a: Any) -> bool:
    """Whether a leaf of ``a`` is None."""
    return any(map(has_none, a)) if is_tuple(a) else a is None


def slice_(crd: Any, trg: Any) -> tuple[Any, ...]:
    """The parts of ``trg`` that stand where ``crd`` has None, side by side."""
    if crd is None:
        return (trg,)
    if not is_tuple(crd):
        return ()
    if not is_tuple(trg) or len(crd) != len(trg):
        raise ValueError(f"the coordinate {crd} does not fit {trg}: expected as many modes")
    return tuple(part for c, t in zip(crd, trg) for part in slice_(c, t))
