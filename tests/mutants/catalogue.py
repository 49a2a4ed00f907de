"""All mutants, by name, in a fixed order.

rule:<rule>           the rule of conf/rules.json is taken out
bug:<bug>             one of the planted bugs of jvm-stubs/testing: a plan, a scan or a load is wrong
refusal:<place>:<code> a statement of the Python package that refuses something is taken out (startup/mutate.py)
error:<condition>     an error that the JVM raises comes under another name (errors.py)
fence:<function>      a claim that has gone to another owner is taken for valid
"""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

from tests.mutants.startup import mutate

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "python" / mutate.PACKAGE

# Bad surroundings and faults of programs, not input that is refused: what a process says when it can't go on.
NOT_REFUSALS = re.compile(r"refusal:(bridge|engine|views|faces|store|verdicts|catalogues)\b")

# The same of the JVM; and what a step of a job says, which is kept with the job as a text and raised by no statement.
NOT_ERRORS = {
    "CONTROL_PLANE_DOWN", "CONTROL_PLANE_FAILED", "STORE_ALREADY_CHOSEN", "VERB_UNKNOWN",
    "JOB_TAKEN_OVER", "JOB_WITHOUT_LAYOUT",
}  # fmt: skip

# Each answers whether a caller may go on with what it has claimed.
FENCES = ("service.jobs.verbs._is_claimed", "service.statements.statements._is_alone")


def rules() -> Iterator[str]:
    entries = json.loads((ROOT / "conf" / "rules.json").read_text(encoding="utf-8"))["rules"]
    return (f"rule:{entry['name']}" for entry in entries)


def bugs() -> Iterator[str]:
    """As the object PlantedBugs lists them."""
    text = next((ROOT / "jvm-stubs" / "testing").rglob("PlantedBugs.scala")).read_text(encoding="utf-8")
    return (f"bug:{name}" for name in re.findall(r'"([a-z_]+)"', text))


def refusals() -> Iterator[str]:
    for path in sorted(SOURCES.rglob("*.py")):
        parts = (mutate.PACKAGE, *path.relative_to(SOURCES).with_suffix("").parts)
        module = ".".join(parts).removesuffix(".__init__")
        found = (site.named(module) for site in mutate.sites(ast.parse(path.read_text(encoding="utf-8"))))
        yield from (name for name in found if not NOT_REFUSALS.match(name))


def errors() -> Iterator[str]:
    """The conditions of the errors that the Scala sources raise."""
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "jvm-stubs" / "src").rglob("*.scala"))
    raised = {name for text in texts for name in re.findall(r'ColocateException\(\s*"([A-Z_]+)"', text)}
    return (f"error:{name}" for name in sorted(raised - NOT_ERRORS))


def mutants() -> list[str]:
    return [*rules(), *bugs(), *refusals(), *errors(), *(f"fence:{place}" for place in FENCES)]
