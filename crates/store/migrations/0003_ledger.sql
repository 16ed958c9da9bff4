-- A row is the text that was written and sealed. Every other column is read from it by the database, so none can say
-- anything else. Rows are only ever added.
CREATE TABLE ledger (
    number INTEGER PRIMARY KEY,
    text   TEXT NOT NULL,

    at          INTEGER GENERATED ALWAYS AS (json_extract(text, '$.at')),
    day         TEXT    GENERATED ALWAYS AS (json_extract(text, '$.day')),
    kind        TEXT    GENERATED ALWAYS AS (json_extract(text, '$.kind')),
    request     TEXT    GENERATED ALWAYS AS (json_extract(text, '$.request_id')),
    run         TEXT    GENERATED ALWAYS AS (json_extract(text, '$.run_id')),
    api_key     TEXT    GENERATED ALWAYS AS (json_extract(text, '$.key')),
    model       TEXT    GENERATED ALWAYS AS (json_extract(text, '$.model')),
    mode        TEXT    GENERATED ALWAYS AS (json_extract(text, '$.mode')),
    reservation TEXT    GENERATED ALWAYS AS (json_extract(text, '$.reservation')),
    corrects    INTEGER GENERATED ALWAYS AS (json_extract(text, '$.corrects')),

    amount  INTEGER GENERATED ALWAYS AS (json_extract(text, '$.amount')),
    -- What was charged beyond what was held. A cast, since the difference of two integers may not be one.
    overrun INTEGER GENERATED ALWAYS AS (
        CASE json_extract(text, '$.kind') WHEN 'avoided' THEN 0
        ELSE CAST(max(0, json_extract(text, '$.amount') - json_extract(text, '$.covered')) AS INTEGER) END
    ),
    -- Casts, since JSON has numbers that are too large for a column.
    input_tokens        INTEGER GENERATED ALWAYS AS (CAST(json_extract(text, '$.tokens.input_tokens') AS INTEGER)),
    cached_input_tokens INTEGER GENERATED ALWAYS AS (CAST(json_extract(text, '$.tokens.cached_input_tokens') AS INTEGER)),
    output_tokens       INTEGER GENERATED ALWAYS AS (CAST(json_extract(text, '$.tokens.output_tokens') AS INTEGER)),
    reasoning_tokens    INTEGER GENERATED ALWAYS AS (CAST(json_extract(text, '$.tokens.reasoning_tokens') AS INTEGER)),
    embedding_tokens    INTEGER GENERATED ALWAYS AS (CAST(json_extract(text, '$.tokens.embedding_tokens') AS INTEGER))
) STRICT;

CREATE INDEX ledger_by_reservation ON ledger (reservation) WHERE reservation IS NOT NULL;
CREATE INDEX ledger_by_run ON ledger (run, at) WHERE run IS NOT NULL;
CREATE INDEX ledger_corrections ON ledger (corrects) WHERE corrects IS NOT NULL;

-- Whatever the usage report shows, so that it reads no text. Rows of a group are added at its end, which is cheap.
CREATE INDEX ledger_usage ON ledger (
    day, api_key, model, mode, kind, amount, overrun,
    input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, embedding_tokens
);

-- Request ids come in no order: an index over them writes a page for each row once it is large. What is paid for can
-- afford that. Hits of a cache come by the ten thousand a second and cannot, so they are found by reading them.
CREATE INDEX ledger_by_request ON ledger (request) WHERE kind <> 'avoided';
CREATE INDEX ledger_hits ON ledger (day) WHERE kind = 'avoided';

CREATE TABLE accounts (
    -- Scope and period.
    budget   TEXT PRIMARY KEY,
    settled  INTEGER NOT NULL,
    reserved INTEGER NOT NULL,
    debt     INTEGER NOT NULL,
    -- Its place among the accounts that are listed: by scope, then once, days, months. Those of requests have none.
    place    TEXT GENERATED ALWAYS AS (
        CASE WHEN substr(budget, 1, 8) <> 'request:' THEN replace(budget, '/once', '/') END
    )
) STRICT, WITHOUT ROWID;

CREATE INDEX accounts_listed ON accounts (place) WHERE place IS NOT NULL;

-- Those that are open.
CREATE TABLE reservations (
    id      TEXT PRIMARY KEY,
    owner   TEXT NOT NULL,
    -- JSON object.
    labels  TEXT NOT NULL,
    -- JSON array of texts.
    budgets TEXT NOT NULL,
    amount  INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    day     TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Until when the reservations of a process are its own.
CREATE TABLE leases (
    owner TEXT PRIMARY KEY,
    until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE seals (
    last      INTEGER PRIMARY KEY,
    first     INTEGER NOT NULL UNIQUE,
    before    BLOB NOT NULL,
    -- 32 bytes for each row.
    links     BLOB NOT NULL,
    sealed_at INTEGER NOT NULL,
    signature BLOB NOT NULL
) STRICT;
