"""What of pycute's int tuples concerns Python's objects alone."""

from abc import ABCMeta


class _IntegerMeta(ABCMeta):
    def __subclasscheck__(cls, other):
        return issubclass(other, int) and other is not bool

    def __instancecheck__(cls, value):
        return cls.__subclasscheck__(type(value))


class Integer(metaclass=_IntegerMeta):
    """What counts as a whole number: ``int``, but not ``bool``."""


def is_int(x):
    """Whether ``x`` is a whole number; truth values are none."""
    return isinstance(x, Integer)


def is_tuple(x):
    """Whether ``x`` is a tuple."""
    return isinstance(x, tuple)


def signum(a):
    """-1, 0 or 1, by the sign of ``a``."""
    return (a > 0) - (a < 0)


def has_none(a):
    """Whether a leaf of ``a`` is None."""
    return any(map(has_none, a)) if is_tuple(a) else a is None


def slice_(crd, trg):
    """The parts of ``trg`` that stand where ``crd`` has None, side by side."""
    if crd is None:
        return (trg,)
    if not is_tuple(crd):
        return ()
    if not is_tuple(trg) or len(crd) != len(trg):
        raise ValueError(f"the coordinate {crd} does not fit {trg}: expected as many modes")
    return tuple(part for c, t in zip(crd, trg) for part in slice_(c, t))
