"""Generated blocks of a page, between the marks `figures:begin` and `figures:end`."""

from __future__ import annotations

from collections.abc import Sequence

BEGIN, END = "<!-- figures:begin -->\n", "<!-- figures:end -->\n"


def with_blocks(text: str, blocks: Sequence[str]) -> str:
    """The page with its generated blocks replaced, in order.

    Raises:
        ValueError: the number of blocks differs, or a block has no end.
    """
    head, *parts = text.split(BEGIN)
    if len(parts) != len(blocks):
        raise ValueError(f"the page has {len(parts)} generated parts, not {len(blocks)}")
    if any(END not in part for part in parts):
        raise ValueError("a generated part of the page has no end")
    rest = [part.partition(END)[2] for part in parts]
    return head + "".join(f"{BEGIN}{block}{END}{after}" for block, after in zip(blocks, rest, strict=True))
