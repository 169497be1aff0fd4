-- state.db, schema 2.
CREATE TABLE usage(
  id TEXT PRIMARY KEY, uses INTEGER NOT NULL, last_session INTEGER NOT NULL, last_used TEXT,
  first_day INTEGER NOT NULL, idle_day INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE sessions(
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, project TEXT NOT NULL,
  started TEXT NOT NULL);
CREATE INDEX sessions_project ON sessions(project, number);
CREATE TABLE days(
  number INTEGER PRIMARY KEY, project TEXT NOT NULL, day TEXT NOT NULL, UNIQUE(project, day));
CREATE TABLE batches(
  project TEXT NOT NULL, vault TEXT NOT NULL, session INTEGER NOT NULL,
  PRIMARY KEY(project, vault)) WITHOUT ROWID;
INSERT INTO usage VALUES('mem_0', 1, 0, '2026-03-01T08:00:00Z', 0, 0);
INSERT INTO usage VALUES('mem_1', 2, 3, '2026-03-03T10:00:00Z', 2, 3);
INSERT INTO usage VALUES('mem_2', 2, 2, '2026-03-02T10:00:00Z', 1, 2);
INSERT INTO usage VALUES('mem_3', 0, 1, NULL, 1, 1);
INSERT INTO sessions VALUES(1, 's1', 'p', '2026-03-01T09:00:00Z');
INSERT INTO sessions VALUES(2, 's2', 'q', '2026-03-02T09:00:00Z');
INSERT INTO sessions VALUES(3, 's3', 'p', '2026-03-03T09:00:00Z');
INSERT INTO days VALUES(1, 'p', '2026-03-01');
INSERT INTO days VALUES(2, 'q', '2026-03-02');
INSERT INTO days VALUES(3, 'p', '2026-03-03');
INSERT INTO batches VALUES('p', 'vault', 3);
PRAGMA user_version = 2;
