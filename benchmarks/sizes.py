"""Bytes as people read them."""


def size(count: float) -> str:
    """Bytes for people: 0 B, 118 B, 1.4 MiB."""
    for unit in ("B", "KiB", "MiB"):
        if abs(count) < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"
