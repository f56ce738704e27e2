"""Links out of docs/ and readable docstrings: what the site needs beyond its plugins.

On GitHub a page links to `../results/table1.md`. The site takes such files in under the same path,
so that it can be read offline, and links are rewritten to it. A link to something that the site
does not hold (a folder, the source) keeps its text and loses its link, unless `repo_url` says where
the repository can be seen.
"""

import posixpath
import re
import textwrap
from pathlib import Path
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent
TAKEN_IN = [
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "LICENSE",
    "benchmarks/*.py",
    "results/*.md",
    "results/*.png",
    "results/former/*.md",
    "results/former/*.png",
]
LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<target>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")


def site_path(path: str) -> str:
    """Return where a file of the repository is in the site.

    What a browser would download instead of showing it becomes text.
    """
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return path if path.endswith((".md", ".png")) else f"{path}.txt"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Take the files in."""
    for found in sorted(path for pattern in TAKEN_IN for path in ROOT.glob(pattern)):
        files.append(
            File.generated(
                config, site_path(found.relative_to(ROOT).as_posix()), abs_src_path=str(found)
            )
        )
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite the links of a page that lead out of docs/, or into it from outside."""
    here = Path(page.file.abs_src_path or "").relative_to(ROOT).parent.as_posix()

    def rewritten(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(here, link["target"]))
        # What is not there is left as it is, for MkDocs to complain of.
        if ":" in link["target"] or path.startswith("..") or not (ROOT / path).exists():
            return link[0]
        if files.get_file_from_path(site_path(path)) is not None:
            target = posixpath.relpath(site_path(path), posixpath.dirname(page.file.src_uri) or ".")
            return f"[{link['text']}]({target}{link['anchor'] or ''})"
        return (
            f"[{link['text']}]({config.repo_url.rstrip('/')}/blob/main/{path})"
            if config.repo_url
            else link["text"]
        )

    return LINK.sub(rewritten, markdown)


class Docstrings(griffe.Extension):
    """Shows doctests as code, and attributes only if they are described or have a type."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Give doctests a heading; without it Markdown takes lines with >>> for quotations."""
        if obj.docstring and "Examples:" not in obj.docstring.value:
            text, prompt, example = obj.docstring.value.partition("\n\n>>> ")
            if prompt:
                obj.docstring.value = f"{text}\n\nExamples:\n" + textwrap.indent(
                    f">>> {example}", "    "
                )

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        """Hide what a constructor merely keeps, such as `self.settings = settings`."""
        for name, attribute in list(cls.attributes.items()):
            if (
                not (attribute.is_alias or attribute.docstring or attribute.annotation)
                and "property" not in attribute.labels
            ):
                cls.del_member(name)
