# From the [project] table of pyproject.toml to the METADATA file of a wheel.
# Called by openwinml_build.py.
"""Core metadata of the package."""

from __future__ import annotations

import pathlib


def project_table(path: pathlib.Path) -> dict:
    try:
        import tomllib
    except ImportError:
        raise SystemExit("building the wheel needs Python 3.11 or later; the wheel itself works with 3.9") from None
    return tomllib.loads(path.read_text("utf-8"))["project"]


def metadata_text(project: dict, version: str, folder: pathlib.Path, licenses: "list[str]") -> str:
    known = {
        "name", "description", "readme", "license", "requires-python", "dynamic", "keywords", "classifiers",
        "optional-dependencies", "scripts", "dependencies", "urls",
    }  # fmt: skip
    unknown = set(project) - known
    if unknown:
        raise SystemExit(f"pyproject.toml: metadata.py does not know project.{', project.'.join(sorted(unknown))}")
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {version}",
        f"Summary: {project['description']}",
        f"License-Expression: {project['license']}",
        f"Keywords: {','.join(project['keywords'])}",
        f"Requires-Python: {project['requires-python']}",
    ]
    lines += [f"License-File: {name}" for name in licenses]
    lines += [f"Project-URL: {name}, {address}" for name, address in project.get("urls", {}).items()]
    lines += [f"Classifier: {name}" for name in project["classifiers"]]
    lines += [f"Requires-Dist: {requirement}" for requirement in project.get("dependencies", [])]
    for extra, requirements in project.get("optional-dependencies", {}).items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {requirement}; extra == "{extra}"' for requirement in requirements]
    lines.append("Description-Content-Type: text/markdown")
    return "\n".join(lines) + "\n\n" + (folder / project["readme"]).read_text("utf-8")
