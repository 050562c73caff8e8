"""The types of a GGUF's tensors: how many bytes the elements of each take.

Numbers and sizes are those of ``ggml_type`` and its blocks in ggml.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

BLOCKS = {
    **{number: (1, size) for number, size in {0: 4, 1: 2, 24: 1, 25: 2, 26: 4, 27: 8, 28: 8, 30: 2}.items()},
    **{number: (32, size) for number, size in {2: 18, 3: 20, 6: 22, 7: 24, 8: 34, 9: 40, 20: 18}.items()},
    **{number: (256, size) for number, size in {10: 84, 11: 110, 12: 144, 13: 176, 14: 210, 15: 292}.items()},
    **{number: (256, size) for number, size in {16: 66, 17: 74, 18: 98, 19: 50, 21: 110, 22: 82}.items()},
    **{number: (256, size) for number, size in {23: 136, 29: 56, 34: 54, 35: 66}.items()},
    39: (32, 17),
    40: (64, 36),
    41: (128, 18),
}
"""Elements in a block and bytes that it takes, by the number of the type."""


def size_of(kind: int, dimensions: Sequence[int]) -> int:
    """Return how many bytes a tensor takes; 0 for a type that is not known here.

    Args:
        kind: The number of its type.
        dimensions: How many elements it has in each dimension.
    """
    elements, size = BLOCKS.get(kind, (1, 0))
    return -(-prod(dimensions) // elements) * size
