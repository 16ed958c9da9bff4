CREATE TABLE conversations (
    -- The order in which they were kept.
    place      INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    -- The API key's id; empty for the local door.
    owner      TEXT    NOT NULL,
    title      TEXT    NOT NULL,
    agent      TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    -- The run that has it.
    busy       TEXT,
    -- JSON object: what was said.
    said       TEXT    NOT NULL
) STRICT;

CREATE INDEX conversations_by_owner ON conversations (owner);
CREATE INDEX conversations_by_age ON conversations (updated_at);

CREATE TABLE runs (
    -- The order in which they were kept.
    place        INTEGER PRIMARY KEY,
    id           TEXT    NOT NULL UNIQUE,
    -- The API key's id; empty for the local door.
    owner        TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    -- Of a question.
    mode         TEXT,
    -- Of an agent's run.
    agent        TEXT,
    model        TEXT,
    conversation TEXT    REFERENCES conversations (id) ON DELETE CASCADE,
    message      TEXT    NOT NULL,
    request      TEXT    NOT NULL,
    process      TEXT    NOT NULL,
    started_at   INTEGER NOT NULL,
    -- The rest is there when it is over.
    ended_at     INTEGER,
    stop         TEXT,
    code         TEXT,
    -- JSON object.
    usage        TEXT,
    cost         INTEGER
) STRICT;

CREATE INDEX runs_by_owner ON runs (owner);
CREATE INDEX runs_by_request ON runs (request);
CREATE INDEX runs_by_conversation ON runs (conversation) WHERE conversation IS NOT NULL;
CREATE INDEX runs_that_go_on ON runs (process) WHERE ended_at IS NULL;
-- Those that are forgotten by their own age.
CREATE INDEX runs_by_end ON runs (ended_at) WHERE ended_at IS NOT NULL AND conversation IS NULL;

CREATE TABLE run_events (
    run    INTEGER NOT NULL REFERENCES runs (place) ON DELETE CASCADE,
    -- From 1, without gaps.
    number INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    -- JSON object.
    text   TEXT    NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_questions (
    run    INTEGER NOT NULL REFERENCES runs (place) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    -- JSON object: the event that asks.
    text   TEXT    NOT NULL,
    -- JSON object: the first answer.
    given  TEXT,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_artifacts (
    place INTEGER PRIMARY KEY,
    id    TEXT    NOT NULL UNIQUE,
    run   INTEGER NOT NULL REFERENCES runs (place) ON DELETE CASCADE,
    mime  TEXT    NOT NULL,
    bytes BLOB    NOT NULL
) STRICT;

CREATE INDEX run_artifacts_by_run ON run_artifacts (run);

-- Until when the runs of a process are its own.
CREATE TABLE run_processes (
    id    TEXT PRIMARY KEY,
    until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
