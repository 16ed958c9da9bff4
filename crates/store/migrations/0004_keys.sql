CREATE TABLE keys (
    -- Order of creation, which a clock that goes backwards cannot upset.
    sequence   INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    -- SHA-256 of the secret, which is kept nowhere.
    hash       BLOB NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    role       TEXT NOT NULL,
    -- JSON.
    sources    TEXT NOT NULL,
    -- JSON array of objects.
    budgets    TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
) STRICT;

CREATE TABLE key_revision (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    value    INTEGER NOT NULL
) STRICT;

INSERT INTO key_revision (only_row, value) VALUES (1, 0);

-- Counted here and not by the program, so that no change of a key can go unseen, not even one made by hand.
CREATE TRIGGER keys_added AFTER INSERT ON keys BEGIN UPDATE key_revision SET value = value + 1; END;
CREATE TRIGGER keys_changed AFTER UPDATE ON keys BEGIN UPDATE key_revision SET value = value + 1; END;
CREATE TRIGGER keys_removed AFTER DELETE ON keys BEGIN UPDATE key_revision SET value = value + 1; END;
