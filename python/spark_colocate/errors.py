"""Bad input and broken surroundings. Every message is a headline with both sides, then the cure."""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """The names of errors. They stay the same in all versions; texts may change."""

    BUCKETS_DIFFER = "BUCKETS_DIFFER"
    KEY_COUNT_DIFFERS = "KEY_COUNT_DIFFERS"
    KEY_ORDER_DIFFERS = "KEY_ORDER_DIFFERS"
    KEY_TYPES_DIFFER = "KEY_TYPES_DIFFER"
    REPLICATION_DIFFERS = "REPLICATION_DIFFERS"
    REPLICATION_FIXED = "REPLICATION_FIXED"
    REPLICATION_INVALID = "REPLICATION_INVALID"
    GROUP_IN_RECYCLE = "GROUP_IN_RECYCLE"
    GROUP_BUSY = "GROUP_BUSY"
    GROUP_UNKNOWN = "GROUP_UNKNOWN"
    GROUP_HAS_MEMBERS = "GROUP_HAS_MEMBERS"
    GROUP_NAME_INVALID = "GROUP_NAME_INVALID"
    RENAME_LEAVES_DATABASE = "RENAME_LEAVES_DATABASE"
    CLUSTERED_BY_MISSING = "CLUSTERED_BY_MISSING"
    LIQUID_CLUSTERING = "LIQUID_CLUSTERING"
    FORMAT_REFUSED = "FORMAT_REFUSED"
    BUCKETS_INVALID = "BUCKETS_INVALID"
    COLUMN_RESERVED = "COLUMN_RESERVED"
    KEY_ABSENT = "KEY_ABSENT"
    KEY_DUPLICATE = "KEY_DUPLICATE"
    KEY_GENERATED = "KEY_GENERATED"
    KEY_IDENTITY = "KEY_IDENTITY"
    KEY_TYPE_REFUSED = "KEY_TYPE_REFUSED"
    KEY_PARTITIONED = "KEY_PARTITIONED"
    DORIS_SYNTAX = "DORIS_SYNTAX"
    DORIS_TABLE = "DORIS_TABLE"
    DORIS_UNSUPPORTED = "DORIS_UNSUPPORTED"
    KEY_MODEL_INVALID = "KEY_MODEL_INVALID"
    RANGE_OVERLAP = "RANGE_OVERLAP"
    RANGE_BACKWARDS = "RANGE_BACKWARDS"
    RANGE_AFTER_MAXVALUE = "RANGE_AFTER_MAXVALUE"
    RANGE_NAME_REPEATED = "RANGE_NAME_REPEATED"
    RANGE_NAME_INVALID = "RANGE_NAME_INVALID"
    RANGE_VALUE_COUNT = "RANGE_VALUE_COUNT"
    RANGE_VALUE_INVALID = "RANGE_VALUE_INVALID"
    RANGE_PROPERTY_INVALID = "RANGE_PROPERTY_INVALID"
    RANGE_PARTITION_UNKNOWN = "RANGE_PARTITION_UNKNOWN"
    RANGE_LAST_PARTITION = "RANGE_LAST_PARTITION"
    RANGE_COLUMN_INVALID = "RANGE_COLUMN_INVALID"
    RANGE_COLUMN_TYPE = "RANGE_COLUMN_TYPE"
    RANGE_BUCKETS = "RANGE_BUCKETS"
    RANGE_BUCKET_KEYS = "RANGE_BUCKET_KEYS"
    EVENT_LOG_UNREADABLE = "EVENT_LOG_UNREADABLE"
    PROC_PATH_UNKNOWN = "PROC_PATH_UNKNOWN"
    TICKET_UNKNOWN = "TICKET_UNKNOWN"
    VERB_UNKNOWN = "VERB_UNKNOWN"
    REQUEST_INVALID = "REQUEST_INVALID"
    SETTING_UNKNOWN = "SETTING_UNKNOWN"
    SETTING_INVALID = "SETTING_INVALID"
    STORE_LOCKED = "STORE_LOCKED"
    STORE_UNREACHABLE = "STORE_UNREACHABLE"
    STORE_NEEDED = "STORE_NEEDED"
    STORE_URL_INVALID = "STORE_URL_INVALID"
    SECRET_EXPOSED = "SECRET_EXPOSED"
    STORE_TOO_NEW = "STORE_TOO_NEW"
    VERDICTS_NEED_JVM = "VERDICTS_NEED_JVM"
    SEQUENCE_INVALID = "SEQUENCE_INVALID"
    VERSION_CHANGED = "VERSION_CHANGED"
    TOKEN_NEEDED = "TOKEN_NEEDED"
    TOKEN_EXISTS = "TOKEN_EXISTS"
    TOKEN_UNKNOWN = "TOKEN_UNKNOWN"
    ROLE_TOO_LOW = "ROLE_TOO_LOW"
    PATH_UNKNOWN = "PATH_UNKNOWN"
    METHOD_REFUSED = "METHOD_REFUSED"
    BODY_TOO_LARGE = "BODY_TOO_LARGE"
    REQUEST_TIMEOUT = "REQUEST_TIMEOUT"
    RATE_LIMITED = "RATE_LIMITED"
    ORIGIN_REFUSED = "ORIGIN_REFUSED"
    INTERNAL_FAULT = "INTERNAL_FAULT"
    SERVE_REFUSED = "SERVE_REFUSED"
    CATALOG_UNKNOWN = "CATALOG_UNKNOWN"
    STATEMENT_FAILED = "STATEMENT_FAILED"
    ADOPT_REFUSED = "ADOPT_REFUSED"
    GROUP_UNSTABLE = "GROUP_UNSTABLE"
    JOB_UNKNOWN = "JOB_UNKNOWN"
    JOB_RUNNING = "JOB_RUNNING"
    JOB_REPEATED = "JOB_REPEATED"
    JOB_ENDED = "JOB_ENDED"
    JOB_TARGET = "JOB_TARGET"
    JOB_OPTION = "JOB_OPTION"
    JOB_FAILED = "JOB_FAILED"
    JOB_TIMEOUT = "JOB_TIMEOUT"
    SESSION_FAILED = "SESSION_FAILED"
    SESSION_ENDED = "SESSION_ENDED"
    ENGINE_FAILED = "ENGINE_FAILED"


class ColocateError(Exception):
    """The one base: `code` for programs, the text for people."""

    def __init__(self, code: Code, headline: str, cure: str) -> None:
        super().__init__(f"{headline} {cure}")
        self.code = code
        self.headline = headline
        self.cure = cure


class LayoutError(ColocateError):
    """The table's own declaration can't be a bucket layout."""


class GroupMismatchError(ColocateError):
    """The table does not fit the group."""


class GroupError(ColocateError):
    """The group's name or state does not allow the request."""


class RequestError(ColocateError):
    """The request itself is not understood."""


class DialectError(ColocateError):
    """A text in Doris' spelling is wrong, or can't be translated. line and column: from 1, of the first fault."""

    def __init__(self, code: Code, headline: str, cure: str, line: int, column: int) -> None:
        super().__init__(code, headline, cure)
        self.line = line
        self.column = column


class AccessError(ColocateError):
    """The caller is not known, or may not do this."""


class StoreError(ColocateError):
    """The store can't be used."""


class EngineError(ColocateError):
    """Spark could not do a part of a job. final: it would fail again in the same way."""

    def __init__(self, code: Code, headline: str, cure: str, final: bool = False) -> None:
        super().__init__(code, headline, cure)
        self.final = final
