-- A database of schema version 5, as the last version that had it left it: frozen, with plants, a token and a webhook.
-- Never change it.
PRAGMA application_id = 1347178068;
PRAGMA user_version = 5;
CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT;
CREATE TABLE tokens (
     selector BLOB PRIMARY KEY,
     digest BLOB NOT NULL,
     name TEXT NOT NULL UNIQUE,
     scopes TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     expires_at INTEGER,
     last_used_at INTEGER
   ) STRICT, WITHOUT ROWID;
CREATE TABLE changes (
    position INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    type INTEGER NOT NULL,
    id INTEGER NOT NULL,
    name TEXT,
    tag TEXT
  ) STRICT;
CREATE TABLE change_log (id BLOB NOT NULL) STRICT;
CREATE TABLE plant_webhooks (
     name TEXT PRIMARY KEY,
     url TEXT NOT NULL,
     events TEXT NOT NULL,
     secret TEXT NOT NULL,
     previous_secret TEXT,
     previous_until INTEGER,
     created_at INTEGER NOT NULL,
     cursor TEXT,
     attempts INTEGER NOT NULL DEFAULT 0,
     failing_since INTEGER,
     next_attempt_at INTEGER,
     paused_at INTEGER,
     last_success_at INTEGER,
     last_failure_at INTEGER,
     last_failure TEXT,
     owner TEXT,
     owner_until INTEGER
   ) STRICT, WITHOUT ROWID;
CREATE TABLE plant_restriction (
     is_only INTEGER PRIMARY KEY DEFAULT 1 CHECK (is_only = 1),
     source TEXT,
     cursor TEXT,
     copy_from INTEGER,
     consistent_at TEXT
   ) STRICT;
INSERT INTO plants VALUES (-9223372036854775808, '', '');
INSERT INTO plants VALUES (1, 'Abies', 'Tree');
INSERT INTO plants VALUES (2, 'Bellis', 'Flower');
INSERT INTO tokens VALUES (x'0707070707070707', x'0707070707070707070707070707070707070707070707070707070707070707', 'ci', 'read,write', 0, NULL, NULL);
INSERT INTO changes VALUES (0, 1795651067447, 3, 0, NULL, NULL);
INSERT INTO changes VALUES (28, 1795651067456, 0, -9223372036854775808, '', '');
INSERT INTO changes VALUES (65, 1795651067457, 0, 1, 'Abies', 'Tree');
INSERT INTO changes VALUES (99, 1795651067457, 0, 2, 'Bellis', NULL);
INSERT INTO changes VALUES (137, 1795651067458, 0, 3, 'Cedrus', 'Tree');
INSERT INTO changes VALUES (177, 1795651067458, 1, 2, 'Bellis', 'Flower');
INSERT INTO changes VALUES (205, 1795651067459, 2, 3, NULL, NULL);
INSERT INTO change_log VALUES (x'a72699c3d72f14d5');
INSERT INTO plant_webhooks VALUES ('orders', 'https://receiver.example/', 'newPlant', 'whsec_AAAA', NULL, NULL, 0, 'pyaZw9cvFNUAAAAAAAAAYwGiFSTeQaNwSBo', 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO plant_restriction VALUES (1, NULL, NULL, NULL, NULL);
CREATE INDEX plants_by_tag ON plants (tag) WHERE tag IS NOT NULL;
CREATE TRIGGER log_created AFTER INSERT ON plants BEGIN
      INSERT INTO changes (position, at, type, id, name, tag)
      VALUES (ifnull((SELECT max(position) FROM changes), 0) + 28 + octet_length(new.name) + ifnull(octet_length(new.tag), 0), CAST(round(unixepoch('subsec') * 1000) AS INTEGER), 0, new.id, new.name, new.tag);
    END;
CREATE TRIGGER log_changed AFTER UPDATE ON plants WHEN new.name IS NOT old.name OR new.tag IS NOT old.tag BEGIN
      INSERT INTO changes (position, at, type, id, name, tag)
      VALUES (ifnull((SELECT max(position) FROM changes), 0) + 28 + octet_length(new.name) + ifnull(octet_length(new.tag), 0), CAST(round(unixepoch('subsec') * 1000) AS INTEGER), 1, new.id, new.name, new.tag);
    END;
CREATE TRIGGER log_removed AFTER DELETE ON plants BEGIN
      INSERT INTO changes (position, at, type, id)
      VALUES (ifnull((SELECT max(position) FROM changes), 0) + 28, CAST(round(unixepoch('subsec') * 1000) AS INTEGER), 2, old.id);
    END;
CREATE TRIGGER refuse_insert BEFORE INSERT ON plants WHEN EXISTS (SELECT 1 FROM plant_restriction) BEGIN
      SELECT RAISE(ABORT, 'changes to plants are restricted');
    END;
CREATE TRIGGER refuse_update BEFORE UPDATE ON plants WHEN EXISTS (SELECT 1 FROM plant_restriction) BEGIN
      SELECT RAISE(ABORT, 'changes to plants are restricted');
    END;
CREATE TRIGGER refuse_delete BEFORE DELETE ON plants WHEN EXISTS (SELECT 1 FROM plant_restriction) BEGIN
      SELECT RAISE(ABORT, 'changes to plants are restricted');
    END;
