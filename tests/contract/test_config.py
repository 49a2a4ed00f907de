"""Doris' configurations of the frontend, on every store."""

from collections.abc import Callable

import pytest

from tests.contract.plane import Plane, Refused


def _values(plane: Plane, pattern: str = "%") -> dict[str, str]:
    return {row["Key"]: row["Value"] for row in plane.call("show_config", pattern=pattern)}


def test_without_a_store_they_have_their_defaults_and_showing_makes_none(plane: Plane) -> None:
    assert _values(plane) == {"disable_colocate_balance": "false", "disable_colocate_relocate": "false"}
    assert not plane.store.exists() or plane.service.version() == 0


def test_what_one_driver_sets_another_sees(plane: Plane, another: Callable[..., Plane]) -> None:
    set_ = plane.call("set_config", key=" Disable_Colocate_Balance", value="TRUE")
    assert (set_["Key"], set_["Value"], set_["Type"]) == ("disable_colocate_balance", "true", "boolean")
    assert _values(another()) == {"disable_colocate_balance": "true", "disable_colocate_relocate": "false"}
    plane.call("set_config", key="disable_colocate_balance", value="false")
    assert _values(another())["disable_colocate_balance"] == "false"


def test_each_change_is_in_the_audit_once(plane: Plane) -> None:
    for value in ("true", "true", "false"):
        plane.call("set_config", key="disable_colocate_relocate", value=value)
    lines = plane.call("rows", table="colocation_audit")
    assert [(line["verb"], line["object"], line["detail"]) for line in lines] == [
        ("set_config", "disable_colocate_relocate", "false"),
        ("set_config", "disable_colocate_relocate", "true"),
    ]


@pytest.mark.parametrize(
    ("pattern", "keys"),
    [
        ("%balance", ["disable_colocate_balance"]),
        ("disable_colocate_relocat_", ["disable_colocate_relocate"]),
        (".*", []),
    ],
)
def test_a_pattern_is_one_of_like(plane: Plane, pattern: str, keys: list[str]) -> None:
    assert list(_values(plane, pattern)) == keys


@pytest.mark.parametrize(
    ("key", "value", "code", "text"),
    [
        (
            "max_balancing_tablets",
            "5",
            "SETTING_UNKNOWN",
            "There is no configuration max_balancing_tablets (disable_colocate_balance, disable_colocate_relocate). "
            "Set one of these.",
        ),
        (
            "disable_colocate_join",
            "true",
            "SETTING_UNKNOWN",
            "There is no configuration disable_colocate_join (disable_colocate_balance, disable_colocate_relocate). "
            "Write SET disable_colocate_join = true: it belongs to a session.",
        ),
        (
            "disable_colocate_balance",
            "yes",
            "SETTING_INVALID",
            "Cannot use 'yes' for disable_colocate_balance: it must be true or false. Write one of these.",
        ),
    ],
)
def test_others_are_refused_and_nothing_is_written(plane: Plane, key: str, value: str, code: str, text: str) -> None:
    with pytest.raises(Refused) as refused:
        plane.call("set_config", key=key, value=value)
    assert (refused.value.code, str(refused.value)) == (code, text)
    assert set(_values(plane).values()) == {"false"}
