"""Go's package fmt: how values print, alone (``sprint``) and by a format (``sprintf``)."""

from transplate.gotmpl.fmt.scan import sprintf
from transplate.gotmpl.fmt.values import (
    ADDRESS,
    UnprintableValue,
    print_value,
    printable_value,
    sprint,
    sprintln,
)

__all__ = [
    "ADDRESS",
    "UnprintableValue",
    "print_value",
    "printable_value",
    "sprint",
    "sprintf",
    "sprintln",
]
