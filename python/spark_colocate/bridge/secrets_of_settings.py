"""Takes secrets out of a builder's settings before a JVM starts, whose command line and UI would show them."""

from __future__ import annotations

import os
from collections.abc import MutableMapping

STORE = "spark.colocate.store"
TOKEN = "spark.colocate.acl.token"


def take_out(options: MutableMapping[str, str], has_driver: bool) -> None:
    """Moves a password and a token into the environment, which the driver's control plane inherits.

    has_driver: there is a JVM already, whose environment can't be changed. Then raises ValueError with the cure.
    """
    store, token = options.get(STORE, ""), options.get(TOKEN, "")
    if not store and not token:
        return
    # The store's libraries take their time to load, and most sessions name no store.
    from spark_colocate.store.passwords import PASSWORD_VARIABLE, TOKEN_VARIABLE, has_password

    if has_password(store):
        _refuse(STORE, PASSWORD_VARIABLE, has_driver)
        options[STORE], os.environ[PASSWORD_VARIABLE] = _parts(store)
    if token:
        _refuse(TOKEN, TOKEN_VARIABLE, has_driver)
        os.environ[TOKEN_VARIABLE] = options.pop(TOKEN)


def _parts(store: str) -> tuple[str, str]:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    from spark_colocate.store.passwords import split

    try:
        url, password = split(make_url(store))
    except (ArgumentError, ValueError):
        raise ValueError(f"{STORE} is not the URL of a store. Write postgresql://user@host/database.") from None
    return url.render_as_string(hide_password=False), password


def _refuse(key: str, variable: str, has_driver: bool) -> None:
    if has_driver:
        raise ValueError(
            f"Cannot take the secret out of {key}: this process has a JVM already, which would show it in its UI. "
            f"Set the variable {variable} before the JVM starts, or name a file in "
            + (f"{STORE}.passwordFile." if key == STORE else f"{TOKEN}File.")
        )
