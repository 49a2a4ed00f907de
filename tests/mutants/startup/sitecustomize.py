"""Python runs this at the start of each process that has this folder in PYTHONPATH, the control plane among them."""

import os

_MUTANT = os.environ.get("COLOCATE_MUTANT", "")
if _MUTANT == "record":
    import mutate

    mutate.record()
elif _MUTANT.startswith(("refusal:", "fence:")):
    import mutate

    mutate.install(_MUTANT)
elif _MUTANT.startswith("error:"):
    from tests.mutants import errors

    errors.rename_as_told()
