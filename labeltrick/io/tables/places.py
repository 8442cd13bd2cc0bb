"""Where a table is: a file, a sheet of a workbook, or a table or query of a database.

Databases are written as URLs, which may hold passwords. `masked` is how they are shown and stored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

_SHEET = re.compile(r"^(?P<path>.*\.xlsx)(?:#(?P<inside>.*))?$", re.IGNORECASE | re.DOTALL)
_URL = re.compile(r"^(?:duckdb:|[A-Za-z][A-Za-z0-9+_.-]*://)")
_QUERY = re.compile(r"\?\s*(?=(?:select|with)\b)", re.IGNORECASE)
_TABLE = re.compile(r"\?([^?=&]+)$", re.DOTALL)
# A password may hold any character; it ends at the last "@" before a query.
_USER = re.compile(r"(://[^:/@?]*):((?:(?!\?\s*(?:select|with)\b).)*)@", re.DOTALL | re.IGNORECASE)
_SECRET = re.compile(r"(?i)([?&][^=&]*(?:pass|pwd|secret|token|key)[^=&]*)=[^&]*")
HIDDEN = "***"


@dataclass(frozen=True)
class Place:
    """A table that a text names.

    Attributes
    ----------
    kind : str
        "file", "sheet" or "database".
    where : str
        The file, or the URL of the database.
    inside : str
        The sheet, or the table or query; "" if none is named.
    """

    kind: str
    where: str
    inside: str = ""

    @classmethod
    def of(cls, text: str) -> Place:
        if _URL.match(text):
            user = _USER.search(text)
            start = 0 if user is None else user.end()
            query = _QUERY.search(text, start)
            if query is not None:
                return cls("database", text[: query.start()], text[query.end() :].strip())
            table = _TABLE.search(text, start)
            if table is not None:
                return cls("database", text[: table.start()], table[1].strip())
            return cls("database", text)
        sheet = _SHEET.match(text)
        if sheet is not None:
            return cls("sheet", sheet["path"], sheet["inside"] or "")
        return cls("file", text)

    @property
    def scheme(self) -> str:
        """The kind of database, without the name of its driver."""
        return re.split(r"[+:]", self.where, maxsplit=1)[0].lower()

    @property
    def path(self) -> Path | None:
        """The file that is read; None for a database on a server."""
        if self.kind != "database":
            return Path(self.where).expanduser()
        if self.scheme not in ("duckdb", "sqlite"):
            return None
        rest = self.where.partition(":")[2]
        return Path(rest.removeprefix("///") if rest.startswith("//") else rest).expanduser()

    @property
    def secrets(self) -> list[str]:
        """What must not be shown."""
        found = [match[2] for match in [_USER.search(self.where)] if match is not None]
        found += [match[0].partition("=")[2] for match in _SECRET.finditer(self.where)]
        return [secret for secret in found if secret and secret != HIDDEN]

    @property
    def shown(self) -> str:
        """The place without passwords."""
        where = _SECRET.sub(rf"\1={HIDDEN}", _USER.sub(rf"\1:{HIDDEN}@", self.where))
        if not self.inside:
            return where
        return f"{where}{'?' if self.kind == 'database' else '#'}{self.inside}"

    @property
    def absolute(self) -> str:
        """The place for a file of settings: without passwords, and the same in any folder."""
        if self.path is None:
            return self.shown
        path = str(self.path.absolute())
        if self.kind == "database":
            path = f"duckdb:{path}" if self.scheme == "duckdb" else f"sqlite:///{path}"
        return Place(self.kind, path, self.inside).shown


def masked(text: str) -> str:
    """A place as it may be shown and stored.

    >>> masked("postgresql://me:secret@host/db?people")
    'postgresql://me:***@host/db?people'
    """
    return Place.of(text).shown


def require_opened_by_the_user(config: str, option: str, texts: tuple[str, ...]) -> None:
    """Raise an error for a database on a server that a file names, which may be a stranger's."""
    for text in texts:
        if Place.of(text).path is None:
            raise ValueError(
                f"`{config}` names a database on a server, {masked(text)}, which is only opened if "
                f"you name it yourself. Pass --{option} on the command line."
            )


def require_path(path: Path) -> Path:
    if not path.exists():
        near = [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
        found = get_close_matches(path.name, near, 1)
        hint = f" Did you mean '{found[0]}'?" if found else " Correct the path."
        raise FileNotFoundError(f"`{path}` must exist; it does not.{hint}")
    return path
