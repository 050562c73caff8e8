"""The compiler: what it needs for one template, put together of its parts."""

from __future__ import annotations

from transplate.convert.jinja_to_go.arithmetic import Arithmetic
from transplate.convert.jinja_to_go.branches import Branches
from transplate.convert.jinja_to_go.calls import Calls
from transplate.convert.jinja_to_go.comparing import Comparing
from transplate.convert.jinja_to_go.conditions import Conditions
from transplate.convert.jinja_to_go.dates import Dates
from transplate.convert.jinja_to_go.filters import Filters
from transplate.convert.jinja_to_go.jsontext import JsonText
from transplate.convert.jinja_to_go.kinds import Kinds
from transplate.convert.jinja_to_go.lists import Lists
from transplate.convert.jinja_to_go.lookups import Lookups
from transplate.convert.jinja_to_go.loops import Loops
from transplate.convert.jinja_to_go.macros import Macros
from transplate.convert.jinja_to_go.merging import Merging
from transplate.convert.jinja_to_go.methods import StringMethods
from transplate.convert.jinja_to_go.packing import Packing
from transplate.convert.jinja_to_go.printing import Printing
from transplate.convert.jinja_to_go.recognised import Recognised
from transplate.convert.jinja_to_go.recursion import Recursions
from transplate.convert.jinja_to_go.searches import Searches
from transplate.convert.jinja_to_go.slices import Slices
from transplate.convert.jinja_to_go.sorting import Sorting
from transplate.convert.jinja_to_go.statements import Statements
from transplate.convert.jinja_to_go.texts import Texts
from transplate.convert.jinja_to_go.variables import Variables
from transplate.convert.jinja_to_go.walking import Walking
from transplate.convert.jinja_to_go.walking_dicts import WalkingDicts
from transplate.convert.jinja_to_go.walking_texts import WalkingTexts


class Compiler(
    Statements,
    Macros,
    Recognised,
    Recursions,
    Branches,
    Merging,
    Variables,
    Loops,
    Packing,
    Walking,
    WalkingDicts,
    WalkingTexts,
    Printing,
    JsonText,
    Filters,
    Calls,
    Dates,
    StringMethods,
    Conditions,
    Kinds,
    Lookups,
    Lists,
    Searches,
    Slices,
    Sorting,
    Texts,
    Arithmetic,
    Comparing,
):
    """Writes a template in Go."""
