-- state.db, schema 1. Nothing wrote sessions yet, but the table was there.
CREATE TABLE usage(
  id TEXT PRIMARY KEY, uses INTEGER NOT NULL, last_session INTEGER NOT NULL, last_used TEXT)
  WITHOUT ROWID;
CREATE TABLE sessions(
  id TEXT PRIMARY KEY, project TEXT NOT NULL, number INTEGER NOT NULL, started TEXT NOT NULL)
  WITHOUT ROWID;
CREATE INDEX sessions_project ON sessions(project, number);
INSERT INTO usage VALUES('mem_0', 1, 0, '2026-03-01T08:00:00Z');
INSERT INTO usage VALUES('mem_1', 2, 2, '2026-03-03T10:00:00Z');
INSERT INTO usage VALUES('mem_2', 1, 2, '2026-03-02T10:00:00Z');
INSERT INTO sessions VALUES('s1', 'p', 1, '2026-03-01T09:00:00Z');
INSERT INTO sessions VALUES('s2', 'q', 1, '2026-03-02T09:00:00Z');
INSERT INTO sessions VALUES('s3', 'p', 2, '2026-03-03T09:00:00Z');
PRAGMA user_version = 1;
