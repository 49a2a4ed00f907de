"""Secrets and their sources: the store's password, which is in no URL that is shown, and an application's token.

`conf/Exposed.scala` refuses a URL with a password in Spark's configuration by the same rules.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import URL

from spark_colocate.errors import Code, RequestError, StoreError

PASSWORD_VARIABLE = "COLOCATE_STORE_PASSWORD"
"""The password of the store in the environment; `configure` puts it there where it finds one in a URL."""
TOKEN_VARIABLE = "COLOCATE_TOKEN"

WAYS = "put the password into ~/.pgpass, into the variable PGPASSWORD, or into a file that {file} names."

_PASSWORD = re.compile(
    r"[a-z][\w+.-]*:/*[^:/@?]*:[^@]+@.*|.*pass(?:word|wd)?\s*=.*|.*pwd\s*=.*", re.IGNORECASE | re.DOTALL
)
_OTHERS_READ = 0o004
_FILE_BYTES = 4096

Secret = Callable[[], str]
"""Gives a secret when it is needed, so that a file may change meanwhile; empty without one."""


def has_password(url: str) -> bool:
    """Whether a URL may hold one: also one that can't be parsed."""
    text = url.strip()
    return not text.lower().startswith("sqlite") and _PASSWORD.fullmatch(text) is not None


def split(url: URL) -> tuple[URL, str]:
    """The URL without its password, and the password; empty without one."""
    given = url.query.get("password", "")
    password = url.password or (given if isinstance(given, str) else given[0])
    without = URL.create(url.drivername, url.username, None, url.host, url.port, url.database, url.query)
    return without.difference_update_query(["password"]), password or ""


def readable(text: str) -> str:
    """A text that is not a URL of a store, as an error may show it."""
    scheme = re.match(r"\s*[a-z]+(?=[:+])", text, re.IGNORECASE)
    return f"{scheme[0] if scheme else ''}..." if has_password(text) else text


def of_store(file: str, in_url: str = "") -> Secret:
    """The store's password: of the file, of the URL, or of our variable. Where it is empty, libpq looks for one."""
    return lambda: of_file(file) if file else in_url or os.environ.get(PASSWORD_VARIABLE, "")


def of_application(file: str) -> Secret:
    """The token of sessions that have none of their own."""
    return lambda: of_file(file) if file else os.environ.get(TOKEN_VARIABLE, "")


def of_file(name: str) -> str:
    """The first line of a file with a secret. Raises StoreError for one that can't be read, or that all may read."""
    try:
        with Path(name).open(encoding="utf-8") as file:
            rights = os.fstat(file.fileno()).st_mode & 0o777
            line = file.readline(_FILE_BYTES).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(
            Code.STORE_UNREACHABLE,
            f"Cannot read the file {name}, which should hold a secret: {error}.",
            "Name a text file that the driver's user may read.",
        ) from error
    if rights & _OTHERS_READ:
        raise StoreError(
            Code.SECRET_EXPOSED,
            f"Cannot use the secret in {name}: every user of the machine can read the file ({rights:04o}).",
            f"Run chmod 600 {name}, and use a new secret. In Kubernetes, set the volume's defaultMode to 0440.",
        )
    return line


def refuse_on_command_line(option: str, url: str) -> None:
    """Raises RequestError: the list of processes shows what a command was given."""
    if has_password(url):
        raise RequestError(
            Code.SECRET_EXPOSED,
            f"Cannot take a password in {option}: every user of the machine sees it in the list of processes (ps).",
            "Change the password. Then put the whole URL into the variable COLOCATE_STORE, or write "
            "postgresql://user@host/database, and " + WAYS.format(file="spark.colocate.store.passwordFile"),
        )
