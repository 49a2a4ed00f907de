"""The verbs of the control plane. All logic is here, behind `Service`; the modules that show or send values add none.

`base` has the values that go in and come out, and the transactions that all verbs use; `groups.listings` has the
values that are shown. A statement is begin / the catalog's own work / finish (`statements.statements`); `declarations`
checks what it declares, `membership` has the steps of one transaction.
"""

from spark_colocate.service.base.access import NewToken
from spark_colocate.service.base.config import ConfigEntry
from spark_colocate.service.base.requests import (
    Action,
    CatalogTables,
    Change,
    Declaration,
    ReplicationChange,
    Request,
    Reservation,
    SequenceChange,
)
from spark_colocate.service.doctor.facts import BucketFiles, InspectedTable, Inspection
from spark_colocate.service.facade import LEASE_SECONDS, Service
from spark_colocate.service.groups.listings import BucketPlacement, GroupListing, MemberListing, Snapshot
from spark_colocate.service.jobs.verbs import JobLost, Jobs
from spark_colocate.service.placement.hosts import HostWatch
from spark_colocate.service.statements.adoption import AdoptionPlan

__all__ = [
    "LEASE_SECONDS",
    "Action",
    "AdoptionPlan",
    "BucketFiles",
    "BucketPlacement",
    "CatalogTables",
    "Change",
    "ConfigEntry",
    "Declaration",
    "GroupListing",
    "HostWatch",
    "InspectedTable",
    "Inspection",
    "JobLost",
    "Jobs",
    "MemberListing",
    "NewToken",
    "ReplicationChange",
    "Request",
    "Reservation",
    "SequenceChange",
    "Service",
    "Snapshot",
]
