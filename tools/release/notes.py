"""The notes of a release: its section of CHANGELOG.md."""


def notes(changelog: str, version: str) -> str:
    """The section `## <version>`, with its heading, up to the next version. Raises ValueError if there is none."""
    heading = f"## {version}"
    lines = changelog.splitlines()
    if heading not in lines:
        raise ValueError(f"CHANGELOG.md has no section {heading!r}, the version in pyproject.toml. Write it.")
    start = lines.index(heading)
    following = (number for number in range(start + 1, len(lines)) if lines[number].startswith("## "))
    return "\n".join(lines[start : next(following, len(lines))]).rstrip() + "\n"
