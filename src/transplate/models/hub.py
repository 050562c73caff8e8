"""Repositories of the Hugging Face Hub in the local cache: a name in, the folder with its small files out."""

from __future__ import annotations

import re
from pathlib import Path

from transplate.errors import TransplateError
from transplate.models.huggingface import NEEDED

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(?:/[A-Za-z0-9][\w.-]{0,95})?", re.ASCII)


def find_repository(name: str, *, download: bool = False) -> Path:
    """Return the folder of a repository's newest cached revision.

    Args:
        name: Its name, such as ``Qwen/Qwen3-0.6B``.
        download: Whether what is missing is fetched: the few small files, never the weights.

    Raises:
        TransplateError: The name is none, the package ``huggingface_hub`` is missing, or the repository is
            neither in the cache nor to be fetched.
    """
    if not _NAME.fullmatch(name):
        raise TransplateError(f"hf:{name} is no name of a repository, such as hf:Qwen/Qwen3-0.6B")
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    except ImportError as error:
        message = f"hf:{name} needs the package huggingface_hub (pip install 'transplate[hub]')"
        raise TransplateError(message) from error
    patterns = list(NEEDED)
    try:
        return Path(snapshot_download(name, allow_patterns=patterns, local_files_only=not download))
    except LocalEntryNotFoundError as error:
        includes = " ".join(f"--include '{pattern}'" for pattern in patterns)
        command = f"hf download {name} {includes}"
        message = f"hf:{name} is not in the cache; --download (in Python download=True) fetches it"
        raise TransplateError(f"{message}, or: {command}") from error
    except (HfHubHTTPError, OSError, ValueError) as error:
        raise TransplateError(f"hf:{name}: {str(error).splitlines()[0]}") from error
