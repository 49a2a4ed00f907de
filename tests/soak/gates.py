"""Who may be in a table at the same time: many readers, or one writer."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Gate:
    """Shared or alone; whoever is in may enter again. Who waits to be alone goes first: readers can't keep him out."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._alone = False
        self._waiting = 0
        self._own = threading.local()

    @contextmanager
    def shared(self) -> Iterator[None]:
        if self._is_in():
            yield
            return
        with self._changed:
            self._changed.wait_for(lambda: not self._alone and not self._waiting)
            self._inside += 1
        self._own.is_in = True
        try:
            yield
        finally:
            self._own.is_in = False
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        assert not self._is_in(), "a thread that is in would wait for itself"
        with self._changed:
            self._waiting += 1
            self._changed.wait_for(lambda: not self._alone and not self._inside)
            self._waiting -= 1
            self._alone = True
        self._own.is_in = True
        try:
            yield
        finally:
            self._own.is_in = False
            with self._changed:
                self._alone = False
                self._changed.notify_all()

    def _is_in(self) -> bool:
        return getattr(self._own, "is_in", False)
