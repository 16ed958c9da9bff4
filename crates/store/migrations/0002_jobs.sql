CREATE TABLE jobs (
    -- Order of acceptance, which a clock that goes backwards cannot upset.
    sequence      INTEGER PRIMARY KEY AUTOINCREMENT,
    id            TEXT NOT NULL UNIQUE,
    status        TEXT NOT NULL,
    source        TEXT NOT NULL,
    path          TEXT NOT NULL,
    stage         TEXT NOT NULL,
    percent       INTEGER NOT NULL,
    chunks        INTEGER NOT NULL,
    effect        TEXT,
    -- JSON array of texts.
    warnings      TEXT NOT NULL,
    elapsed_ms    REAL,
    error_code    TEXT,
    error_message TEXT,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
) STRICT;

CREATE INDEX jobs_by_status ON jobs (status, sequence);
