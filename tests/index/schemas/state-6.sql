-- state.db, schema 6.
CREATE TABLE usage(
  id TEXT PRIMARY KEY, uses INTEGER NOT NULL, last_session INTEGER NOT NULL, last_used TEXT,
  first_day INTEGER NOT NULL, idle_day INTEGER NOT NULL, uses_then INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE sessions(
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, project TEXT NOT NULL,
  started TEXT NOT NULL, ended TEXT NOT NULL DEFAULT '', reason TEXT NOT NULL DEFAULT '',
  cwd TEXT NOT NULL DEFAULT '', transcript TEXT NOT NULL DEFAULT '',
  ok INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0,
  compactions INTEGER NOT NULL DEFAULT 0, live_ok INTEGER NOT NULL DEFAULT 0,
  live_failed INTEGER NOT NULL DEFAULT 0, live_compactions INTEGER NOT NULL DEFAULT 0,
  client TEXT NOT NULL DEFAULT '');
CREATE INDEX sessions_project ON sessions(project, number);
CREATE TABLE days(
  number INTEGER PRIMARY KEY, project TEXT NOT NULL, day TEXT NOT NULL, UNIQUE(project, day));
CREATE TABLE batches(
  project TEXT NOT NULL, vault TEXT NOT NULL, session INTEGER NOT NULL,
  PRIMARY KEY(project, vault)) WITHOUT ROWID;
CREATE TABLE cursors(
  session TEXT NOT NULL, reader TEXT NOT NULL, path TEXT NOT NULL, cursor TEXT NOT NULL,
  PRIMARY KEY(session, reader, path)) WITHOUT ROWID;
CREATE TABLE turns(turn INTEGER PRIMARY KEY, day INTEGER NOT NULL);
CREATE TABLE events(
  key TEXT PRIMARY KEY, steps INTEGER NOT NULL, tries INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE spend(
  day INTEGER PRIMARY KEY, calls INTEGER NOT NULL, tokens INTEGER NOT NULL);
CREATE TABLE unheard(
  session TEXT NOT NULL, cursor TEXT NOT NULL, lines TEXT NOT NULL, tries INTEGER NOT NULL,
  not_before INTEGER NOT NULL, error TEXT NOT NULL, PRIMARY KEY(session, cursor)) WITHOUT ROWID;
INSERT INTO usage VALUES('mem_0', 1, 0, '2026-03-01T08:00:00Z', 0, 0, 0);
INSERT INTO usage VALUES('mem_1', 2, 3, '2026-03-03T10:00:00Z', 2, 3, 0);
INSERT INTO usage VALUES('mem_2', 2, 2, '2026-03-02T10:00:00Z', 1, 3, 2);
INSERT INTO usage VALUES('mem_3', 0, 1, NULL, 1, 1, 0);
INSERT INTO sessions VALUES(1, 's1', 'p', '2026-03-01T09:00:00Z', '2026-03-01T11:00:00Z', 'clear', '/p', '/t/s1.jsonl', 5, 2, 1, 4, 3, 0, 'codex');
INSERT INTO sessions VALUES(2, 's2', 'q', '2026-03-02T09:00:00Z', '', '', '/q', '/t/s2.jsonl', 0, 0, 0, 0, 0, 0, 'codex');
INSERT INTO sessions VALUES(3, 's3', 'p', '2026-03-03T09:00:00Z', '', '', '/p', '/t/s3.jsonl', 0, 0, 0, 0, 0, 0, 'codex');
INSERT INTO days VALUES(1, 'p', '2026-03-01');
INSERT INTO days VALUES(2, 'q', '2026-03-02');
INSERT INTO days VALUES(3, 'p', '2026-03-03');
INSERT INTO batches VALUES('p', 'vault', 3);
INSERT INTO cursors VALUES('s1', 'capture', '/t/s1.jsonl', '120:abc');
INSERT INTO turns VALUES(2784674087594673255, 739676);
INSERT INTO events VALUES('0001-key', 2, 1);
INSERT INTO spend VALUES(739678, 1, 900);
INSERT INTO unheard VALUES('s1', '', '', 0, 0, '');
INSERT INTO unheard VALUES('s2', '7', '120-134', 5, 0, 'too long');
PRAGMA user_version = 6;
