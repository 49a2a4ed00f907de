"""The verbs of the control plane. All workflow is here, behind `Service`; whoever shows or sends it adds none.

`requests` are the values that go in and come out, `listings` what is shown. A statement is begin / the catalog's own
work / finish (`statements`); `declarations` checks what it declares, `membership` has the steps of one transaction.
"""

from spark_colocate.service.access import NewToken
from spark_colocate.service.config import ConfigEntry
from spark_colocate.service.doctor_facts import BucketFiles, InspectedTable, Inspection
from spark_colocate.service.facade import LEASE_SECONDS, Service
from spark_colocate.service.hosts import HostWatch
from spark_colocate.service.jobs import JobLost, Jobs
from spark_colocate.service.listings import BucketPlacement, GroupListing, MemberListing, Snapshot
from spark_colocate.service.requests import (
    Action,
    CatalogTables,
    Change,
    Declaration,
    ReplicationChange,
    Request,
    Reservation,
    SequenceChange,
)

__all__ = [
    "LEASE_SECONDS",
    "Action",
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
