"""The room that Go leaves behind a slice that grew one element at a time, which slicing again can reach.

The rule is that of ``growslice`` and ``roundupsize`` in Go's runtime (Go 1.26, 64 bits) for elements that
hold pointers.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache

# fmt: off
_SIZE_CLASSES = (
    8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256, 288, 320, 352, 384, 416,
    448, 480, 512, 576, 640, 704, 768, 896, 1024, 1152, 1280, 1408, 1536, 1792, 2048, 2304, 2688, 3072, 3200,
    3456, 4096, 4864, 5120, 5376, 6144, 6528, 6784, 6912, 8192, 9472, 9728, 10240, 10880, 12288, 13568, 14336,
    16384, 18432, 19072, 20480, 21760, 24576, 27264, 28672, 32768,
)
# fmt: on
_HEADER = 8
_LARGEST_WITHOUT_HEADER = 512
_PAGE = 8192
_DOUBLING_ENDS = 256


@lru_cache(maxsize=1024)
def grown_capacity(length: int, element_size: int) -> int:
    """Return the capacity of a slice to which ``length`` elements were appended one by one.

    Args:
        length: How many elements it has.
        element_size: Bytes of one element.
    """
    capacity = 0
    while capacity < length:
        if capacity < _DOUBLING_ENDS:
            grown = max(2 * capacity, 1)
        else:
            grown = capacity + (capacity + 3 * _DOUBLING_ENDS) // 4
        capacity = _allocated(grown * element_size) // element_size
    return capacity


def _allocated(size: int) -> int:
    """Return the usable bytes of the block that Go allocates for ``size`` bytes with pointers."""
    if size > _SIZE_CLASSES[-1] - _HEADER:
        return -(-size // _PAGE) * _PAGE
    header = _HEADER if size > _LARGEST_WITHOUT_HEADER else 0
    return _SIZE_CLASSES[bisect_left(_SIZE_CLASSES, size + header)] - header
