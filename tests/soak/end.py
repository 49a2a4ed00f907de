"""What must hold when nothing is broken any more."""

from tests.soak.jobs import ENDS, Jobs
from tests.soak.outages import all_are
from tests.soak.tables import GROUPS, TABLES
from tests.soak.world import World
from tests.spark.members import folder
from tests.spark.oracle import difference
from tests.spark.plans import SHUFFLES, kind, nodes


def settle(world: World, jobs: Jobs) -> None:
    """Nothing was lost, nothing is stuck, and what is left has a way out: repair."""
    for job in world.persist(jobs.all, "listing jobs"):
        if job.state not in ENDS:
            jobs.wait(job.job_id)
    for group in GROUPS:
        for kind_of_job in ("verify", "repair", "balance", "verify"):
            done = jobs.wait(jobs.start(kind_of_job, group))
            if done.state != "done":
                world.report.fail(f"the last {kind_of_job} of {group} is {done.state}: {done.error}")
        if done.findings != ["no damage found"]:
            world.report.fail(f"{group} is still damaged after a repair: {done.findings}")
        if world.sql(f"CALL system.balance(group => '{group}', dry_run => true)"):
            world.report.fail(f"a balance of {group} that has ended would move more")
    world.until(lambda: all_are(world, "is_stable"), "all groups are stable at the end")
    for table in TABLES:
        _nothing_lost(world, table.name)
    for group in GROUPS:
        _colocated(world, [table.name for table in TABLES if table.group == group])


def _nothing_lost(world: World, name: str) -> None:
    text = f"SELECT k, v FROM {name}"
    world.sql(f"REFRESH TABLE {name}")
    found, wanted = world.rows(text), world.model.rows(text)
    if found != wanted:
        world.report.fail(f"at the end: {difference(found, wanted, text)}")
    left = sorted((folder(world.driver.session(), name) / "_colocate").glob("rewrite-*"))
    if world.report.faults["driver killed"]:  # what it had not finished to write stays for a day, and does no harm
        left = [path for path in left if (path / "journal.json").exists()]
    if left:
        world.report.fail(f"{name} has unfinished rewrites: {left}")
    strays = world.sql(f"SELECT strays FROM system.colocation_tables WHERE `table` = '{name}'")[0].strays
    if strays:
        world.report.fail(f"{name} has {strays} strays after a repair")


def _colocated(world: World, names: list[str]) -> None:
    joined = f"{names[0]} a JOIN {names[1]} b ON a.k = b.k JOIN {names[2]} c ON a.k = c.k"
    text = f"SELECT count(*), sum(a.v), sum(b.v), sum(c.v) FROM {joined} GROUP BY a.k"
    frame = world.driver.session().sql(text)
    frame.collect()
    shuffles = sum(kind(node) in SHUFFLES for node in nodes(frame, run=False))
    if shuffles:
        world.report.fail(f"{shuffles} shuffles at the end: {text}")
