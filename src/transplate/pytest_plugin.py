"""A plugin for pytest: one test for each pair of templates and each conversation.

Pairs are those in ``[tool.transplate]`` of a ``pyproject.toml`` that pytest collects (a folder with one, or
the file itself), and, in a project with that table or with ``--transplate``, templates of either language
that lie beside each other under one name, such as ``chat.gotmpl`` and ``chat.jinja``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from transplate import Conversation
    from transplate.cli.baseline import Baseline
    from transplate.cli.project import Project
    from transplate.parity.pair import Outcomes, Pair

# What the tests need is imported when there are some: the plugin is loaded wherever pytest runs.

_WIDTH = 100
_DEFAULT_KNOWN = "transplate-known.json"
_STATE = pytest.StashKey["_State"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("transplate", "pairs of prompt templates")
    group.addoption(
        "--transplate",
        action="store_true",
        help="test templates that lie beside each other, though there is no [tool.transplate]",
    )
    group.addoption(
        "--transplate-update",
        action="store_true",
        help="accept the differences that there are, in the file of known differences",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the known differences."""
    if config.getoption("transplate_update") and hasattr(config, "workerinput"):
        raise pytest.UsageError("--transplate-update needs one process: -n0")
    config.stash[_STATE] = _State(config)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the pairs of a pyproject.toml, or the pair that a Go template belongs to."""
    if file_path.name == "pyproject.toml":
        found: pytest.Collector = _Listed.from_parent(parent, path=file_path)
        return found
    if file_path.suffix == ".gotmpl" and file_path.with_suffix(".jinja").is_file():
        beside: pytest.Collector = _Beside.from_parent(parent, path=file_path)
        return beside
    return None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the differences that were accepted."""
    session.config.stash[_STATE].write()


class _State:
    """The known differences of each project, and those that are found if they are to be accepted."""

    def __init__(self, config: pytest.Config) -> None:
        self.updates = bool(config.getoption("transplate_update"))
        self._files: dict[Path, Baseline] = {}
        self._found: dict[tuple[Path, str], dict[str, str | None]] = {}
        self._collected: dict[tuple[Path, str], set[str]] = {}

    def known(self, path: Path, pair: str) -> tuple[str, ...]:
        """Return the known differences of a pair."""
        from transplate.cli.baseline import Baseline

        if path not in self._files:
            self._files[path] = Baseline(str(path), is_new=True)
        return self._files[path].change(pair, {}).gone

    def collected(self, path: Path, pair: str, names: Iterable[str]) -> None:
        """Take down which conversations a pair has, whether they are going to be run or not."""
        self._collected[path, pair] = set(names)

    def accept(self, path: Path, pair: str, name: str, difference: str | None) -> None:
        """Take down the difference on a conversation of a pair, or that there is none."""
        self._found.setdefault((path, pair), {})[name] = difference

    def write(self) -> None:
        """Write what was taken down; what is known of conversations that were not run stays."""
        from transplate.cli.baseline import Baseline

        for (path, pair), found in self._found.items():
            not_run = self._collected[path, pair] - found.keys()
            kept = [one for one in self.known(path, pair) if _name_of(one) in not_run]
            accepted = [one for one in found.values() if one is not None]
            Baseline(str(path), is_new=True).update(pair, [*kept, *accepted])


class _Pairs(pytest.File):
    """A file that tells which templates have to print the same."""

    def _made(self, project: Project, pairs: list[tuple[str, str]], folder: Path) -> Iterator[_PairTests]:
        for first, second in pairs:
            yield _PairTests.from_parent(
                self, name=f"{first}~{second}", project=project, folder=folder, sources=(first, second)
            )


class _Listed(_Pairs):
    """A pyproject.toml."""

    def collect(self) -> Iterator[_PairTests]:
        """Yield its pairs."""
        from transplate.cli.project import read_project

        project = read_project(self.path.parent)
        if project.folder == self.path.parent:
            yield from self._made(project, list(project.pairs), project.folder)


class _Beside(_Pairs):
    """A Go template with a chat template of the same name beside it."""

    def collect(self) -> Iterator[_PairTests]:
        """Yield the pair, unless the project lists it or does not ask for pairs."""
        from transplate.cli.project import read_project

        folder = self.path.parent
        project = read_project(folder)
        pair = (self.path.name, self.path.with_suffix(".jinja").name)
        places = tuple((folder / name).resolve() for name in pair)
        listed = [tuple((project.folder / name).resolve() for name in one) for one in project.pairs]
        is_asked = project.is_configured or self.config.getoption("transplate")
        if is_asked and places not in listed and places[::-1] not in listed:
            yield from self._made(project, [pair], folder)


class _PairTests(pytest.Collector):
    """Two templates that have to print the same."""

    def __init__(self, *, project: Project, folder: Path, sources: tuple[str, str], **others: Any) -> None:
        super().__init__(**others)
        self.sources = sources
        self._project = project
        self._folder = folder
        self.known_file = project.folder / (project.known or _DEFAULT_KNOWN)
        """The file of known differences."""

    @cached_property
    def pair(self) -> Pair:
        """Both templates."""
        from transplate.cli.templates import read_sides
        from transplate.parity.dates import clock_of
        from transplate.parity.pair import Pair
        from transplate.parity.sides import side_of

        first, second = map(side_of, read_sides([self._place(source) for source in self.sources]))
        return Pair(first, second, clock_of(first, second))

    @property
    def label(self) -> str:
        """What the pair is called in the file of known differences."""
        return " ".join(self._name(source) for source in self.sources)

    def _place(self, source: str) -> str:
        place = self._folder / source
        return str(place) if place.exists() else source

    def _name(self, source: str) -> str:
        place = self._folder / source
        return place.relative_to(self._project.folder).as_posix() if place.is_file() else source

    def collect(self) -> Iterator[_ConversationTest]:
        """Yield a test for each conversation."""
        from transplate.cli.conversations import read_conversations, told_apart
        from transplate.cli.visible import visible
        from transplate.parity.conversations import ordinary_conversations

        folder = f"{self._project.folder}{os.sep}"
        given = [
            # Those without a name of their own have that of their file, wherever the project is.
            conversation.named(conversation.name.removeprefix(folder).replace(os.sep, "/"))
            for file in self._project.conversations
            for conversation in read_conversations(str(self._project.folder / file))
        ]
        conversations = told_apart(given or ordinary_conversations())
        names = [visible(conversation.name) for conversation in conversations]
        self.config.stash[_STATE].collected(self.known_file, self.label, names)
        for name, conversation in zip(names, conversations, strict=True):
            yield _ConversationTest.from_parent(self, name=name, conversation=conversation)


class _Differs(AssertionError):
    """Two templates do not print the same, or no longer differ as is known."""


class _ConversationTest(pytest.Item):
    """Two templates on one conversation."""

    def __init__(self, *, conversation: Conversation, **others: Any) -> None:
        super().__init__(**others)
        self._conversation = conversation

    def runtest(self) -> None:
        """Compare the prompts."""
        from transplate.parity.pair import comparable, equal

        tests = self.parent
        assert isinstance(tests, _PairTests)  # noqa: S101 - made by no other
        outcomes = tests.pair.outcomes(self._conversation)
        state = self.config.stash[_STATE]
        if not comparable(outcomes):
            if state.updates:
                state.accept(tests.known_file, tests.label, self.name, None)
            pytest.skip("neither has a prompt, or Ollama refuses the request for one of the templates")
        found = None if equal(outcomes) else f"{self.name}: {_digest(outcomes)}"
        if state.updates:
            state.accept(tests.known_file, tests.label, self.name, found)
            return
        known = state.known(tests.known_file, tests.label)
        before = [one for one in known if _name_of(one) == self.name]
        if found is None and before:
            raise _Differs(f"the known difference is gone: --transplate-update takes it out\n{before[0]}")
        if found in known:
            pytest.xfail("a known difference")
        if found is not None:
            lines = ["the difference is not the known one", ""] if before else []
            raise _Differs("\n".join([*lines, *_explained(self._conversation, outcomes, tests.sources)]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return what to show: the difference, the error of a template, or what Python says."""
        from transplate import TransplateError
        from transplate.cli.visible import harmless

        if isinstance(excinfo.value, _Differs | TransplateError):
            return harmless(_said(excinfo.value))
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where the test is from and what it is called."""
        return self.path, None, f"{getattr(self.parent, 'name', '')}: {self.name}"


def _said(error: Exception) -> str:
    from transplate import TransplateError
    from transplate.cli.output import error_text

    return error_text(error) if isinstance(error, TransplateError) else str(error)


def _name_of(difference: str) -> str:
    """Return the conversation of a known difference."""
    return difference.rpartition(": ")[0]


def _digest(outcomes: Outcomes) -> str:
    from transplate.cli.baseline import digest_of

    one, other = outcomes
    return digest_of((one.prompt, other.prompt), (one.error, other.error))


def _explained(conversation: Conversation, outcomes: Outcomes, sources: tuple[str, str]) -> Iterator[str]:
    from transplate.cli.parity_text import conversation_lines, diff_lines
    from transplate.cli.visible import visible

    yield "the templates do not print the same"
    for sign, source, outcome in zip("-+", sources, outcomes, strict=True):
        yield f"{sign} {visible(source)}" + (
            f": fails: {visible(outcome.error.message)}" if outcome.error else ""
        )
    yield "on the conversation"
    for line in conversation_lines(conversation):
        yield f"  {line}"
    for sign, line in diff_lines(*(outcome.prompt for outcome in outcomes), width=_WIDTH):
        yield f"{sign} {line}"
