"""Titled SQL cases: `--!` lines are the header, `-- title` begins a case, a semicolon ends it."""

from pathlib import Path

FOLDER = Path(__file__).parent


def cases(name: str) -> dict[str, str]:
    """The cases of `<name>.sql`: title -> SQL text."""
    text = "\n".join(line for line in (FOLDER / f"{name}.sql").read_text().splitlines() if not line.startswith("--!"))
    parts = [part.strip() for part in text.split(";\n") if part.strip()]
    titled = [part.removeprefix("-- ").split("\n", 1) for part in parts]
    found = {title: sql.rstrip(";").strip() for title, sql in titled}
    assert len(found) == len(parts), f"a title of {name}.sql stands there twice"
    return found
