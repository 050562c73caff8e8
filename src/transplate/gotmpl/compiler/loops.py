"""Which loop a ``{{break}}`` leaves, where Go does not leave the one around it."""

from __future__ import annotations

from transplate.gotmpl.nodes import Body, Break, If, Range, With


def else_holds_break(node: Range) -> bool:
    """Return whether a range's else has a break of its own.

    Go's ``walkRange`` takes such a break for the end of this range, though it stands behind its loop; a
    continue there goes on with the range outside (Go 1.26, ``text/template/exec.go``).
    """
    waiting: list[Body] = [] if node.orelse is None else [node.orelse.body]
    while waiting:
        for item in waiting.pop():
            if isinstance(item, Break):
                return True
            if isinstance(item, If | With):
                waiting.append(item.body)
                if item.orelse is not None:
                    waiting.append((item.orelse,) if isinstance(item.orelse, If | With) else item.orelse.body)
    return False
