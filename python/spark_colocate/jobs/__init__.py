"""What jobs do. Each kind is a file: it plans steps (`begin`), does one (`step`), and ends (`end`).

A step may be repeated, because a driver may end before it has said that a step is done. `runner` does the jobs,
`scheduler` starts those that come again and again.
"""

from collections.abc import Mapping

from spark_colocate.jobs import balance, repair, verify
from spark_colocate.jobs.work import Kind
from spark_colocate.model import JobKind

KINDS: Mapping[JobKind, Kind] = {
    JobKind.VERIFY: verify.Verify(),
    JobKind.REPAIR: repair.Repair(),
    JobKind.BALANCE: balance.Balance(),
}
"""A new kind is a line here, a name in `model.JobKind`, and a procedure in `JobProcedures.scala`."""
