-- Answers that are given again to a request with the same Idempotency-Key.
CREATE TABLE kept_answers (
    -- The API key's id; empty for the local door.
    owner       TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    answer      TEXT    NOT NULL,
    kept_at     INTEGER NOT NULL,
    PRIMARY KEY (owner, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX kept_answers_by_age ON kept_answers (kept_at);
