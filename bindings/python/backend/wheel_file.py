# Writes one wheel: a zip with the files, their digests and the facts about the package. Equal input gives equal bytes.
# Called by openwinml_build.py.
"""The wheel format."""

from __future__ import annotations

import base64
import hashlib
import os
import pathlib
import zipfile

# Zip files have no time zone and begin in 1980; a fixed time makes the wheel the same on every build.
_TIME = (1980, 1, 1, 0, 0, 0)


def _digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def write(
    folder: pathlib.Path,
    name: str,
    version: str,
    tag: str,
    files: "dict[str, pathlib.Path]",
    information: "dict[str, str]",
) -> str:
    """Writes `folder`/name-version-tag.whl and returns the file name; `information` goes into the dist-info folder."""
    info = f"{name}-{version}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: openwinml_build\nRoot-Is-Purelib: false\nTag: {tag}\n"
    texts = {**information, "WHEEL": wheel}
    records = []
    file_name = f"{name}-{version}-{tag}.whl"
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / (file_name + ".part")
    try:
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:

            def add(path: str, data: bytes, mode: int) -> None:
                entry = zipfile.ZipInfo(path, _TIME)
                entry.external_attr = (0o100000 | mode) << 16
                archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
                records.append(f"{path},{_digest(data)},{len(data)}")

            for path, source in sorted(files.items()):
                executable = "/bin/" in path or ".so" in pathlib.PurePosixPath(path).name
                add(path, source.read_bytes(), 0o755 if executable else 0o644)
            for path, text in sorted(texts.items()):
                add(f"{info}/{path}", text.encode("utf-8"), 0o644)
            records.append(f"{info}/RECORD,,")
            record = zipfile.ZipInfo(f"{info}/RECORD", _TIME)
            record.external_attr = 0o100644 << 16
            archive.writestr(record, "\n".join(records) + "\n", zipfile.ZIP_DEFLATED)
        os.replace(unfinished, folder / file_name)
    finally:
        unfinished.unlink(missing_ok=True)
    return file_name
