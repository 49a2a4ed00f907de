"""Adaptive execution on and off, for fixtures: off is for the third tier, but for tests with the mark `not_slow`.

Most rules do the same in both. One test for each rule runs both in the second tier too.
"""

import pytest

ADAPTIVE = (pytest.param("true", id="adaptive"), pytest.param("false", id="plain", marks=pytest.mark.slow))
