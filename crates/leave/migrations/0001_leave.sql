CREATE TABLE employees (
    id         TEXT NOT NULL PRIMARY KEY,
    name       TEXT NOT NULL,
    department TEXT NOT NULL,
    -- YYYY-MM-DD.
    hired      TEXT NOT NULL,
    manager    TEXT REFERENCES employees (id),
    deputy     TEXT,
    -- Grows with every write to this person's leaves: a decision is written only if nothing has changed since it was read.
    revision   INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX employees_by_manager ON employees (manager);
CREATE INDEX employees_by_name ON employees (name);

-- Overtime that may be taken as leave.
CREATE TABLE grants (
    employee TEXT NOT NULL REFERENCES employees (id),
    minutes  INTEGER NOT NULL,
    earned   TEXT NOT NULL,
    expires  TEXT NOT NULL
) STRICT;
CREATE INDEX grants_by_employee ON grants (employee);

CREATE TABLE leaves (
    id          TEXT NOT NULL PRIMARY KEY,
    applicant   TEXT NOT NULL REFERENCES employees (id),
    version     INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    title       TEXT NOT NULL,
    reason      TEXT NOT NULL,
    -- YYYY-MM-DDTHH:MM on the company's clock.
    starts      TEXT NOT NULL,
    ends        TEXT NOT NULL,
    status      TEXT NOT NULL,
    deputy      TEXT,
    has_consent INTEGER NOT NULL,
    event_on    TEXT,
    event_case  TEXT,
    -- JSON array: what each day takes, as the calendar said when it was last edited.
    days        TEXT NOT NULL
) STRICT;
CREATE INDEX leaves_by_applicant ON leaves (applicant, starts);
CREATE INDEX leaves_by_deputy ON leaves (deputy);

CREATE TABLE history (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    leave    TEXT,
    at       INTEGER NOT NULL,
    actor    TEXT,
    client   TEXT NOT NULL,
    tool     TEXT NOT NULL,
    what     TEXT NOT NULL,
    version  INTEGER NOT NULL,
    detail   TEXT NOT NULL,
    reason   TEXT NOT NULL
) STRICT;
CREATE INDEX history_by_leave ON history (leave);
-- Held here and not by the program: nothing that opens this file rewrites what happened by mistake.
CREATE TRIGGER history_is_not_changed BEFORE UPDATE ON history BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
CREATE TRIGGER history_is_not_removed BEFORE DELETE ON history BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;

CREATE TABLE declines (
    leave  TEXT NOT NULL REFERENCES leaves (id),
    effect TEXT NOT NULL,
    by     TEXT NOT NULL,
    at     INTEGER NOT NULL,
    tool   TEXT NOT NULL,
    PRIMARY KEY (leave, effect)
) STRICT, WITHOUT ROWID;

-- What each person was last shown of a leave. Written without waiting for the disk.
CREATE TABLE shown (
    employee TEXT NOT NULL,
    leave    TEXT NOT NULL,
    version  INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    PRIMARY KEY (employee, leave)
) STRICT, WITHOUT ROWID;

CREATE TABLE once (
    employee    TEXT NOT NULL,
    key         TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    reply       TEXT NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (employee, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX once_by_age ON once (at);

-- Confirmations that were used.
CREATE TABLE tickets (
    ticket  TEXT NOT NULL PRIMARY KEY,
    expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX tickets_by_age ON tickets (expires);

CREATE TABLE keys (
    sequence   INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    -- SHA-256 of the secret, which is kept nowhere.
    hash       BLOB NOT NULL UNIQUE,
    employee   TEXT NOT NULL REFERENCES employees (id),
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;

-- The secret that confirmations are sealed with; it outlives the process.
CREATE TABLE seal (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    value    BLOB NOT NULL
) STRICT;
