"""What is known of a model, wherever it was read from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from transplate.ollama.modelfile import Modelfile
from transplate.ollama.roads import Road, choose_road
from transplate.ollama.versions import NEWEST
from transplate.source import Source

if TYPE_CHECKING:
    from transplate.models.saving import Saving

Kind: TypeAlias = Literal[
    "Ollama renderer",
    "Go template",
    "chat template",
    "Modelfile",
    "Ollama store",
    "Ollama server",
    "GGUF",
    "Hugging Face folder",
]


@dataclass(frozen=True, slots=True)
class Tokens:
    """The special tokens of a model, and whether its tokenizer adds them by itself.

    Attributes:
        bos: What begins a text, None where it is not known.
        eos: What ends a turn, likewise.
        others: Other special tokens by their names, such as ``pad_token``.
        adds_bos: Whether the tokenizer puts ``bos`` in front of a prompt; None where it is not said.
        adds_eos: Whether it puts ``eos`` behind one; likewise.
        ends: The tokens that end a generation, each as its id and its text, None where that is not known.
    """

    bos: str | None = None
    eos: str | None = None
    others: Mapping[str, str] = field(default_factory=dict)
    adds_bos: bool | None = None
    adds_eos: bool | None = None
    ends: tuple[tuple[int, str | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Model:
    """A model as far as prompts are concerned.

    Attributes:
        name: Where it was read from, as the user says it.
        kind: What it was read from.
        template: The Go TEMPLATE, None where there is none.
        chat_template: The Jinja chat template that counts, likewise.
        named: All chat templates by name, where they have names (``default``, ``tool_use``, …).
        system: The system prompt for conversations that have none.
        messages: The conversation that comes first, as (role, content).
        parameters: PARAMETERs by name; several values of one are a list.
        renderer: RENDERER, empty for none.
        parser: PARSER, likewise.
        requires: The oldest Ollama that it asks for, likewise.
        base: What FROM names, in order.
        licenses: The texts of its licenses.
        size: The count of its parameters as Ollama shows it, such as ``30.7B``, empty where it is not known.
        family: Ollama's family or the GGUF's architecture, empty where it is not known.
        tokens: The special tokens.
        generation: The generation configuration of a Hugging Face folder.
        warnings: What is odd about it, for people.
        modelfile: The Modelfile it was read from, for edits.
        place: The path of its file or folder, empty where it has none.
        original: For a Modelfile, the Hugging Face folder that FROM names, or that what it names is in.
    """

    name: str
    kind: Kind
    template: Source | None = None
    chat_template: Source | None = None
    named: Mapping[str, Source] = field(default_factory=dict)
    system: str = ""
    messages: tuple[tuple[str, str], ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    renderer: str = ""
    parser: str = ""
    requires: str = ""
    base: tuple[str, ...] = ()
    licenses: tuple[str, ...] = ()
    size: str = ""
    family: str = ""
    tokens: Tokens = field(default_factory=Tokens)
    generation: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    modelfile: Modelfile | None = None
    place: str = ""
    original: Model | None = None

    @classmethod
    def load(cls, source: str | PathLike[str], *, download: bool = False) -> Model:
        """Read a model from wherever it is.

        Args:
            source: A path (template, Modelfile, GGUF, Hugging Face folder), the name of a model in Ollama's
                store (``ollama:`` in front where a file has that name, too), an Ollama server with a model
                (``http://localhost:11434#llama3.2``), one in the Hugging Face cache (``hf:org/name``) or a
                renderer built into Ollama (``renderer:qwen3.5``).
            download: Whether the few small files of a repository that is not in the cache are fetched.

        Raises:
            TransplateError: There is nothing there, or it is damaged.
        """
        from transplate.models.source import load

        return load(source, download=download)

    def road(self, *, ollama: str = NEWEST) -> Road:
        """Return which prompt Ollama builds for it, and why.

        Raises:
            TemplateSyntaxError: Ollama refuses the TEMPLATE.
            TransplateError: The version is not known.
        """
        road = choose_road(
            self.template.text if self.template else None,
            self.chat_template.text if self.chat_template else None,
            renderer=self.renderer,
            parser=self.parser,
            family=self.family,
            ollama=ollama,
        )
        if self.kind == "Ollama server" and road.name in ("go_template", "none"):
            unknown = (
                "a server does not show the GGUF's chat template, which may take the place of the TEMPLATE"
            )
            return replace(road, reason=unknown)
        if self.missing_base and road.name == "none":
            return Road("unknown", f"it depends on {self.base[0]}, which is not here")
        if self.missing_base and road.name == "go_template":
            reason = f"there is a TEMPLATE; {self.base[0]}, which is not here, may have what takes its place"
            return replace(road, reason=reason)
        return road

    @property
    def missing_base(self) -> str:
        """Why what FROM names could not be read, empty where it was."""
        found = (warning for warning in self.warnings if warning.startswith("FROM "))
        return next(found, "") if self.kind == "Modelfile" else ""

    def save_modelfile(
        self,
        path: str | PathLike[str],
        *,
        base: str | None = None,
        force: bool = False,
        dry_run: bool = False,
    ) -> Saving:
        """Write a Modelfile for it.

        A folder that was made from a Modelfile gives that one back, with what the folder says otherwise by
        now. Else the road to the prompts is chosen, with a reason: a Go TEMPLATE made of the chat template,
        or none where Ollama runs the chat template of the weights. Stops are what really ends an answer.

        Args:
            path: Where to.
            base: What FROM says; None for the model itself.
            force: Whether a file that is there is replaced.
            dry_run: Whether nothing is written.

        Returns:
            What was written, why so, and whether the prompts are the same.

        Raises:
            TransplateError: There is nothing that FROM could name, or the file cannot be written.
            UnsupportedTemplate: The template cannot be converted.
            ModelfileError: A Modelfile cannot say one of the values.
        """
        from transplate.models.to_modelfile import modelfile_for

        saving = modelfile_for(self, Path(path), base=base)
        if not dry_run:
            saving.write(force=force)
        return saving

    def save_pretrained(
        self, folder: str | PathLike[str], *, force: bool = False, dry_run: bool = False
    ) -> Saving:
        """Write it into a folder in Hugging Face's layout, where transformers finds it.

        Files that are there are merged: keys that are none of its own survive. What Hugging Face has no place
        for goes into ``ollama.json``, so that the way back is complete.

        Args:
            folder: Where to; it is made if need be.
            force: Whether a value that is there and differs is replaced.
            dry_run: Whether nothing is written.

        Returns:
            What was written, what could not be said, and whether the prompts are the same.

        Raises:
            TransplateError: It has no template, a value would be replaced, or a file is damaged or cannot be
                written.
            UnsupportedTemplate: Its template cannot be converted.
        """
        from transplate.models.to_pretrained import pretrained

        saving = pretrained(self, Path(folder))
        if not dry_run:
            saving.write(force=force)
        return saving

    def save_hub_files(
        self, folder: str | PathLike[str], *, force: bool = False, dry_run: bool = False
    ) -> Saving:
        """Write the files ``template``, ``system`` and ``params``, which the Hub takes for Ollama.

        Args:
            folder: The folder of a repository of GGUFs; it is made if need be.
            force: Whether a file that is there and differs is replaced.
            dry_run: Whether nothing is written.

        Returns:
            What was written, what could not be said, and whether the prompts are the same.

        Raises:
            TransplateError: It has no template, a file would be replaced, or cannot be read or written.
            UnsupportedTemplate: Its template cannot be converted.
        """
        from transplate.models.to_hub_files import hub_files

        saving = hub_files(self, Path(folder))
        if not dry_run:
            saving.write(force=force)
        return saving

    def create_fields(self, *, progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
        """Return the fields that ``create`` of Ollama's Python client takes besides the new model's name.

        A GGUF is named by its digest: ``client.create_blob(path)`` gives it to the server first.

        Args:
            progress: Called with the bytes of GGUFs that were read by then and their sum, as a bar needs
                them: a digest takes a second for each gigabyte or so.

        Raises:
            TransplateError: It has what the client cannot say (RENDERER, PARSER, REQUIRES, a folder as FROM),
                or its GGUF cannot be read.

        Example:
            >>> client.create("mine", **Model.load("Modelfile").create_fields())  # doctest: +SKIP
        """
        from transplate.models.create import create_fields

        folder = Path(self.place).parent if self.kind == "Modelfile" else Path()
        return create_fields(self, folder, progress)

    @property
    def special_tokens(self) -> dict[str, str]:
        """The special tokens by the names that chat templates know them under."""
        tokens = {"bos_token": self.tokens.bos, "eos_token": self.tokens.eos, **self.tokens.others}
        return {name: text for name, text in tokens.items() if text is not None}

    def conversation(self, messages: Sequence[Any], *, system: str | None = None) -> list[Any]:
        """Return a conversation as Ollama begins it: SYSTEM unless it has a system message, then MESSAGEs.

        Args:
            messages: The messages of a request.
            system: What takes the place of SYSTEM; None for SYSTEM.
        """
        system = self.system if system is None else system
        history = [{"role": role, "content": content} for role, content in self.messages]
        first = messages[0] if messages else None
        if system and not (isinstance(first, dict) and first.get("role") == "system"):
            history.insert(0, {"role": "system", "content": system})
        return [*history, *messages]

    def chat_template_for(self, *, tools: bool) -> Source | None:
        """Return the chat template for a conversation: ``tool_use`` if there are tools and it exists."""
        return self.named.get("tool_use", self.chat_template) if tools else self.chat_template
