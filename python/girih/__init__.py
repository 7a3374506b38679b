"""CuTe's layout algebra, a simulator that runs PTX and judges it, and GPU kernels that run on both.

The names and the notation of the algebra are pycute's: ``Layout(shape, stride)``, ``composition``, ``logical_divide``. What needs
numpy or a GPU is imported when it is used first, so that ``import girih`` takes a few milliseconds.
"""

import importlib as _importlib

from ._girih import (
    ComposedLayout,
    DeviceError,
    Finding,
    GirihError,
    KernelError,
    LaunchError,
    Layout,
    LayoutError,
    Picture,
    PictureError,
    PtxError,
    Swizzle,
    __version__,
    blocked_product,
    ceil_div,
    coalesce,
    compatible,
    complement,
    complement_floor,
    composition,
    congruent,
    cosize,
    crd2crd,
    crd2idx,
    depth,
    elem_scale,
    filter,
    filter_zeros,
    flat_divide,
    flat_product,
    flatten,
    group,
    idx2crd,
    inner_product,
    is_layout,
    left_inverse,
    logical_divide,
    logical_product,
    make_identity_layout,
    make_layout,
    make_layout_like,
    make_layout_right,
    make_ordered_layout,
    max_common_layout,
    max_common_vector,
    nullspace,
    outer_product,
    prefix_product,
    product,
    product_each,
    quasi_inverse,
    raked_product,
    rank,
    recast,
    recognise,
    right_inverse,
    select,
    shape_div,
    size,
    slice_and_offset,
    tile_to_shape,
    tiled_divide,
    tiled_product,
    tuple_max,
    zipped_divide,
    zipped_product,
)
from .int_tuple import Integer, has_none, is_int, is_tuple, signum, slice_

# What is imported when it is used first, and where it stands.
_LAZY = {
    "attention": "kernels",
    "gather": "arrays",
    "gemm": "kernels",
    "indices": "arrays",
    "program": "kernels",
    "programs": "kernels",
    "view": "arrays",
}
_MODULES = {"arrays", "compile", "cuda", "kernels", "sim"}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import arrays as arrays
    from . import compile as compile
    from . import cuda as cuda
    from . import kernels as kernels
    from . import sim as sim
    from .arrays import gather, indices, view
    from .kernels import attention, gemm, program, programs
else:
    # Type checkers would take every name for one of the module's.
    def __getattr__(name):
        if name in _MODULES:
            return _importlib.import_module("." + name, __name__)
        if name in _LAZY:
            found = getattr(_importlib.import_module("." + _LAZY[name], __name__), name)
            # From now on it is found without this function.
            globals()[name] = found
            return found
        raise AttributeError(f"module 'girih' has no attribute {name!r}")


# Type checkers read it, so it is written out.
__all__ = [
    "ComposedLayout",
    "DeviceError",
    "Finding",
    "GirihError",
    "Integer",
    "KernelError",
    "LaunchError",
    "Layout",
    "LayoutError",
    "Picture",
    "PictureError",
    "PtxError",
    "Swizzle",
    "attention",
    "blocked_product",
    "ceil_div",
    "coalesce",
    "compatible",
    "complement",
    "complement_floor",
    "composition",
    "congruent",
    "cosize",
    "crd2crd",
    "crd2idx",
    "depth",
    "elem_scale",
    "filter",
    "filter_zeros",
    "flat_divide",
    "flat_product",
    "flatten",
    "gather",
    "gemm",
    "group",
    "has_none",
    "idx2crd",
    "indices",
    "inner_product",
    "is_int",
    "is_layout",
    "is_tuple",
    "left_inverse",
    "logical_divide",
    "logical_product",
    "make_identity_layout",
    "make_layout",
    "make_layout_like",
    "make_layout_right",
    "make_ordered_layout",
    "max_common_layout",
    "max_common_vector",
    "nullspace",
    "outer_product",
    "prefix_product",
    "product",
    "product_each",
    "program",
    "programs",
    "quasi_inverse",
    "raked_product",
    "rank",
    "recast",
    "recognise",
    "right_inverse",
    "select",
    "shape_div",
    "signum",
    "size",
    "slice_",
    "slice_and_offset",
    "tile_to_shape",
    "tiled_divide",
    "tiled_product",
    "tuple_max",
    "view",
    "zipped_divide",
    "zipped_product",
]


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})
