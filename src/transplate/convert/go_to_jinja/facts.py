"""What is known to hold at one place of a template, and what follows from it for a condition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from transplate.convert.go_to_jinja import build as b
from transplate.convert.go_to_jinja import text
from transplate.jinja import nodes as j
from transplate.jinja import walk


@dataclass(frozen=True)
class Facts:
    """Conditions that are known to be true or false here; ``loops`` has the list that each loop runs over."""

    known: Mapping[j.Expression, bool] = field(default_factory=dict)
    loops: Mapping[j.Expression, j.Expression] = field(default_factory=dict)

    def assuming(self, condition: j.Expression, *, holds: bool = True) -> Facts:
        """Return these facts and all that a condition tells where it holds (or does not)."""
        known = {**self.known, **dict(_consequences(condition, holds))}
        return Facts(_propagated(known), self.loops)

    def without(self, targets: set[j.Expression]) -> Facts:
        """Return the facts that do not depend on any of some variables, which are about to change."""
        if not targets:
            return self
        kept = {
            condition: value
            for condition, value in self.known.items()
            if not any(part in targets for part in walk.parts(condition))
        }
        return Facts(kept, self.loops)

    def inside(self, loop: j.Expression, iterable: j.Expression) -> Facts:
        """Return these facts for the body of a loop."""
        return Facts(self.known, {**self.loops, loop: iterable})

    def decide(self, condition: j.Expression) -> bool | None:
        """Return whether a condition holds here, None where that is not known."""
        constant = b.truth(condition)
        if constant is not None:
            return constant
        if condition in self.known:
            return self.known[condition]
        opposite = b.not_(condition)
        if opposite in self.known:
            return not self.known[opposite]
        match condition:
            case j.Not(value):
                decided = self.decide(value)
                return None if decided is None else not decided
            case j.And(operands):
                if any(impossible <= set(operands) for impossible in self._impossible()):
                    return False
                decisions = [self.decide(operand) for operand in operands]
                return False if False in decisions else None if None in decisions else True
            case j.Or(operands):
                decisions = [self.decide(operand) for operand in operands]
                return True if True in decisions else None if None in decisions else False
            case j.Binary("!=", left, right):
                decided = self.decide(j.Binary("==", left, right))
                return None if decided is None else not decided
            case j.Binary("==", subject, j.Literal(str(wanted))):
                return self._equals(subject, wanted)
            case j.Call(j.Attribute(subject, "startswith"), (j.Literal(str(prefix)),)):
                return self._starts_with(subject, prefix)
            case j.Test(subject, "none" | "undefined") if self.known.get(subject):
                return condition.negated
            case _:
                return self._is_true(condition)

    def _impossible(self) -> Iterator[set[j.Expression]]:
        """Yield the sets of conditions that cannot all hold."""
        for condition, value in self.known.items():
            if isinstance(condition, j.And) and not value:
                yield set(condition.operands)

    def _about(self, subject: j.Expression) -> Iterator[tuple[str, str, bool]]:
        """Yield what is known of a text: that it equals, or starts with, a constant, or does not."""
        for condition, value in self.known.items():
            match condition:
                case j.Binary("==", about, j.Literal(str(constant))) if about == subject:
                    yield "is", constant, value
                case j.Call(j.Attribute(about, "startswith"), (j.Literal(str(constant)),)) if (
                    about == subject
                ):
                    yield "starts", constant, value

    def _equals(self, subject: j.Expression, wanted: str) -> bool | None:
        if self.known.get(subject) is False and wanted:
            return False
        for how, constant, value in self._about(subject):
            if how == "is" and value and constant != wanted:
                return False
            if how == "starts" and wanted.startswith(constant) is not value:
                return False
        return None

    def _starts_with(self, subject: j.Expression, prefix: str) -> bool | None:
        for how, constant, value in self._about(subject):
            if how == "is" and value:
                return constant.startswith(prefix)
            if how == "starts" and value:
                if constant.startswith(prefix):
                    return True
                if not prefix.startswith(constant):
                    return False
            if how == "starts" and not value and prefix.startswith(constant):
                return False
        return None

    def _is_true(self, subject: j.Expression) -> bool | None:
        for _, constant, value in self._about(subject):
            if value and constant:
                return True
        return None

    def prefix_of(self, subject: j.Expression) -> str:
        """Return the longest constant that a text is known to start with."""
        return max((constant for _, constant, value in self._about(subject) if value), key=len, default="")

    def _has_content(self, message: j.Expression) -> bool:
        """Return whether a message cannot be one of the assistant's, which may come without content."""
        role = j.Attribute(message, "role")
        return any(
            value and constant != "assistant" for how, constant, value in self._about(role) if how == "is"
        )

    # --- conditions and values as they are simplest here ----------------------------------------------

    def condition(self, expression: j.Expression) -> j.Expression:
        """Return a condition without the parts that are decided here."""
        match expression:
            case j.And(operands):
                facts, kept = self, []
                for operand in operands:
                    simpler = facts.condition(operand)
                    kept.append(simpler)
                    facts = facts.assuming(simpler)
                return text.simplify_condition(b.and_(*_needed(kept, self)))
            case j.Or(operands):
                facts, kept = self, []
                for operand in operands:
                    simpler = facts.condition(operand)
                    kept.append(simpler)
                    facts = facts.assuming(simpler, holds=False)
                return text.simplify_condition(b.or_(*kept))
            case j.Not(value):
                return b.not_(self.condition(value))
            case j.Conditional(test, value, otherwise):
                decided = self.decide(test)
                if decided is not None:
                    return self.condition(value if decided else otherwise)
                when = self.assuming(test).condition(value)
                unless = self.assuming(test, holds=False).condition(otherwise)
                if b.truth(when) is True:
                    return self.condition(b.or_(test, unless))
                if b.truth(unless) is False:
                    return self.condition(b.and_(test, when))
                if b.truth(when) is False:
                    return self.condition(b.and_(b.not_(test), unless))
                return j.Conditional(self.condition(test), when, unless)
            case _:
                simpler = text.simplify_condition(self.value(expression))
                decided = self.decide(simpler)
                return simpler if decided is None else j.Literal(decided)

    def value(self, expression: j.Expression) -> j.Expression:
        """Return an expression whose parts are as simple as they can be here; the value is the same."""
        match expression:
            case j.Conditional(test, value, otherwise):
                simpler = self.condition(test)
                decided = b.truth(simpler)
                if decided is not None:
                    return self.value(value if decided else otherwise)
                return j.Conditional(
                    simpler,
                    self.assuming(simpler).value(value),
                    self.assuming(simpler, holds=False).value(otherwise),
                )
            case j.Or((j.Attribute(message, "content") as content, j.Literal(""))) if self._has_content(
                message
            ):
                return content
            case j.Or((value, otherwise)):
                decided = self.decide(value)
                if decided is not None:
                    return self.value(value if decided else otherwise)
                return j.Or((self.value(value), self.value(otherwise)))
            case j.And((value, otherwise)):
                decided = self.decide(value)
                if decided is not None:
                    return self.value(otherwise if decided else value)
                return j.And((self.value(value), self.value(otherwise)))
            case j.Binary("+" | "-"):
                # Known to be true, it is still the number and not the truth that is printed.
                return text.simplify(walk.rebuild(expression, self.value), self)
            case j.Not() | j.Binary() | j.Test():
                simpler = text.simplify(walk.rebuild(expression, self.value), self)
                decided = self.decide(simpler)
                return simpler if decided is None else j.Literal(decided)
            case _:
                return text.simplify(walk.rebuild(expression, self.value), self)


def _needed(operands: list[j.Expression], facts: Facts) -> list[j.Expression]:
    """Return the operands of a conjunction without those that the others imply."""
    kept = list(operands)
    for operand in operands:
        if isinstance(operand, j.Binary) and operand.operator == "!=":
            others = list(kept)
            others.remove(operand)
            within = facts
            for other in others:
                within = within.assuming(other)
            if within.decide(operand) is True:
                kept = others
    return kept


def _propagated(known: dict[j.Expression, bool]) -> dict[j.Expression, bool]:
    """Return conditions with what follows where all but one of those that exclude each other hold."""
    facts = Facts(known)
    for condition, value in list(known.items()):
        if isinstance(condition, j.And) and not value:
            open_ones = [operand for operand in condition.operands if facts.decide(operand) is not True]
            if len(open_ones) == 1:
                known.update(_consequences(open_ones[0], False))
    return known


def _consequences(condition: j.Expression, holds: bool) -> Iterator[tuple[j.Expression, bool]]:
    match condition:
        case j.Not(value):
            yield from _consequences(value, not holds)
        case j.And(operands) if holds:
            for operand in operands:
                yield from _consequences(operand, True)
        case j.Or(operands) if not holds:
            for operand in operands:
                yield from _consequences(operand, False)
        case j.Binary("!=", left, right):
            yield j.Binary("==", left, right), not holds
        case _:
            yield condition, holds
