"""One template, converted in both styles, in every engine: equal to real Ollama or not, and where not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from tests.convert.cases import Case, chat_context, meets, ollama_values
from tests.oracle.engines import Engine, Rendered
from tests.oracle.llama import LlamaEngine
from tests.oracle.ollama import OLLAMA_VERSION, Answer, GoOracle
from tests.portability import hosts
from tests.portability.covering import LEAST, Covering, cover
from transplate import Conversion, TransplateError, UnsupportedTemplate, to_jinja

STYLES = ("exact", "default")


@dataclass(frozen=True, slots=True)
class Subject:
    """A template to convert.

    Attributes:
        name: What it is called.
        source: The template.
        group: Where it comes from.
    """

    name: str
    source: str
    group: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A conversation on which a converted template does not print what Ollama prints."""

    subject: str
    style: str
    engine: str
    case: Case
    wanted: Answer
    got: Rendered

    def __str__(self) -> str:
        wanted = self.wanted.output.decode("utf-8", "replace")
        got = self.got.text or ""
        at = next(
            (at for at, (one, other) in enumerate(zip(wanted, got, strict=False)) if one != other),
            min(len(wanted), len(got)),
        )
        start = max(0, at - 60)
        ours = f"error: {self.got.error}" if self.got.error is not None else repr(got[start : at + 60])
        real = f"error: {self.wanted.error}" if self.wanted.error else repr(wanted[start : at + 60])
        return (
            f"{self.subject}, {self.style} form, {self.engine}, from character {start}\n"
            f"  Ollama {real}\n  engine {ours}\n"
            f"  messages {self.case.messages}\n  tools {self.case.tools}\n  think {self.case.think}"
        )


@dataclass(frozen=True, slots=True)
class Form:
    """One style of a converted template, and conversations for it.

    Attributes:
        conversion: The converted template.
        covering: The conversations; those of the default form meet its assumptions.
    """

    conversion: Conversion
    covering: Covering


@dataclass
class Result:
    """What a template's run gave.

    Attributes:
        subject: The template.
        refusal: Why the template was not converted, None if it was.
        forms: Its forms by style; none if it was refused.
        equal: Number of equal conversations by style and engine.
        failing: Number of conversations, by style and engine, on which both Ollama and the engine fail.
        differences: The others.
        left_out: Number of conversations that say nothing, by engine and reason.
        starts_if_assumed: Styles that llama-server only starts with where ``llama-server`` is assumed.
    """

    subject: Subject
    refusal: str | None = None
    forms: dict[str, Form] = field(default_factory=dict)
    equal: Counter[tuple[str, str]] = field(default_factory=Counter)
    failing: Counter[tuple[str, str]] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)
    starts_if_assumed: set[str] = field(default_factory=set)

    def verdict(self, style: str, engine: str) -> str:
        """Return what a style came to in an engine, in a word or two."""
        mine = [each for each in self.differences if (each.style, each.engine) == (style, engine)]
        if mine and all((each.got.error or "").startswith("does not start") for each in mine):
            cure = " unless `llama-server` is assumed" if style in self.starts_if_assumed else ""
            return f"**does not start{cure}**"
        compared = self.equal[style, engine] + self.failing[style, engine] + len(mine)
        return f"**{len(mine)} of {compared} differ**" if mine else f"{compared}"

    def compare(self, oracle: GoOracle, engines: Iterable[Engine], now: datetime) -> None:
        """Compare both forms in some engines with real Ollama.

        Args:
            oracle: Real Ollama.
            engines: The engines to render in.
            now: The time that it is.
        """
        for style, form in self.forms.items():
            cases = form.covering.cases
            values = [ollama_values(case, thinks=form.covering.thinks) for case in cases]
            answers = oracle.render_all(self.subject.source, values, now=now)
            for engine in engines:
                for case, answer in zip(cases, answers, strict=True):
                    self._compare(style, engine, case, answer, now)
                if isinstance(engine, LlamaEngine) and engine.start(form.conversion.text) is not None:
                    self._assume_llama_server(style, engine)

    def _assume_llama_server(self, style: str, engine: LlamaEngine) -> None:
        """Note whether the assumption made for it lets llama-server start."""
        assumed = to_jinja(
            self.subject.source, exact=style == "exact", assume=["llama-server"], ollama=OLLAMA_VERSION
        )
        if engine.start(assumed.text) is None:
            self.starts_if_assumed.add(style)

    def _compare(self, style: str, engine: Engine, case: Case, answer: Answer, now: datetime) -> None:
        form = self.forms[style]
        text = form.conversion.text
        context = chat_context(case, thinks=form.covering.thinks)
        reason = hosts.changes(engine, text, context)
        if reason is not None:
            self.left_out[engine.name, reason] += 1
            return
        # llama-server has only the computer's clock, which is why everyone is given the time that it is.
        rendered = engine.render(text, context, now=None if isinstance(engine, LlamaEngine) else now)
        reason = hosts.refuses(engine, rendered)
        if reason is not None:
            self.left_out[engine.name, reason] += 1
        elif answer.error is not None and rendered.error is not None:
            self.failing[style, engine.name] += 1
        elif answer.error is None and rendered.text == answer.output.decode("utf-8", "replace"):
            self.equal[style, engine.name] += 1
        else:
            self.differences.append(Difference(self.subject.name, style, engine.name, case, answer, rendered))


def prepare(subject: Subject, *, least: int = LEAST, seed: int = 0) -> Result:
    """Convert a template in both styles and choose conversations that take each of its branches.

    Args:
        subject: The template.
        least: Conversations for each style, at least.
        seed: What the choice of conversations depends on.

    Returns:
        A result to which nothing has been compared yet.
    """
    result = Result(subject)
    source = subject.source
    try:
        exact = to_jinja(source, exact=True, ollama=OLLAMA_VERSION)
        default = to_jinja(source, ollama=OLLAMA_VERSION)
    except UnsupportedTemplate as refused:
        result.refusal = f"{refused.message} ({refused.line}:{refused.column})"
        return result
    except TransplateError as error:
        result.refusal = str(error)
        return result
    whole = cover(source, ollama=OLLAMA_VERSION, least=least, seed=seed)
    names = [assumption.name for assumption in default.assumptions]

    def accepts(case: Case) -> bool:
        return meets(case, names)

    ordinary = cover(
        source, ollama=OLLAMA_VERSION, accepts=accepts, least=least, seed=seed, first=whole.cases
    )
    result.forms = {"exact": Form(exact, whole), "default": Form(default, ordinary)}
    return result
