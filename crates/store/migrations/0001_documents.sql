-- Grows with every change of the set of answering versions.
CREATE TABLE revision (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    value    INTEGER NOT NULL
) STRICT;

INSERT INTO revision (only_row, value) VALUES (1, 0);

CREATE TABLE sources (
    id         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    current    INTEGER REFERENCES versions (id) DEFERRABLE INITIALLY DEFERRED,
    deleted_at INTEGER,
    -- The file or folder it was last taken from; NULL for uploads.
    origin     TEXT
) STRICT;

CREATE TABLE versions (
    id             INTEGER PRIMARY KEY,
    source         INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    version        TEXT NOT NULL,
    ingested_at    INTEGER NOT NULL,
    article_count  INTEGER NOT NULL,
    extractor      TEXT NOT NULL,
    -- JSON array of texts.
    warnings       TEXT NOT NULL,
    -- The revision at which it last began to answer: newest first means descending by this.
    current_since  INTEGER NOT NULL,
    UNIQUE (source, version)
) STRICT;

CREATE INDEX versions_by_age ON versions (source, current_since);

-- Apart from versions, so that listing those never pages through texts.
CREATE TABLE documents (
    version   INTEGER PRIMARY KEY REFERENCES versions (id) ON DELETE CASCADE,
    title     TEXT,
    language  TEXT NOT NULL,
    structure TEXT NOT NULL,
    -- JSON array of articles; their spans count bytes of text.
    articles  TEXT NOT NULL,
    text      TEXT NOT NULL
) STRICT;
