-- friction.db, schema 1.
CREATE TABLE conversations(
  project TEXT NOT NULL, id TEXT NOT NULL, session TEXT NOT NULL, started TEXT NOT NULL,
  PRIMARY KEY(project, id)) WITHOUT ROWID;
CREATE TABLE evidence(
  project TEXT NOT NULL, conversation TEXT NOT NULL, session TEXT NOT NULL, message TEXT NOT NULL,
  at TEXT NOT NULL, signal TEXT NOT NULL, weight REAL NOT NULL, statement TEXT NOT NULL,
  rule TEXT NOT NULL, PRIMARY KEY(project, message, signal)) WITHOUT ROWID;
CREATE INDEX evidence_rule ON evidence(project, rule);
CREATE TABLE rules(
  project TEXT NOT NULL, id TEXT NOT NULL, statement TEXT NOT NULL,
  PRIMARY KEY(project, id)) WITHOUT ROWID;
CREATE TABLE attempts(
  number INTEGER PRIMARY KEY, project TEXT NOT NULL, rule TEXT NOT NULL, memory TEXT NOT NULL,
  at TEXT NOT NULL, ended TEXT NOT NULL DEFAULT '', outcome TEXT NOT NULL DEFAULT '');
INSERT INTO conversations VALUES('p', 'c1', 's1', '2026-03-01T08:00:00Z');
INSERT INTO conversations VALUES('p', 'c2', 's2', '2026-03-02T08:00:00Z');
INSERT INTO conversations VALUES('p', 'c3', 's3', '2026-03-03T08:00:00Z');
INSERT INTO evidence VALUES('p', 'c1', 's1', 'm1', '2026-03-01T09:00:00Z', 'user_correction', 8.0, 'use the mirror', 'ag-001');
INSERT INTO evidence VALUES('p', 'c2', 's2', 'm2', '2026-03-02T09:00:00Z', 'user_correction', 8.0, 'use the mirror, please', 'ag-001');
INSERT INTO evidence VALUES('p', 'c3', 's3', 'm3', '2026-03-03T09:00:00Z', 'user_correction', 8.0, 'delete no branches', 'ag-002');
INSERT INTO rules VALUES('p', 'ag-001', 'use the mirror');
INSERT INTO rules VALUES('p', 'ag-002', 'delete no branches');
INSERT INTO attempts VALUES(1, 'p', 'ag-001', 'mem_1', '2026-03-04T09:00:00Z', '', '');
INSERT INTO attempts VALUES(2, 'p', 'ag-002', '', '2026-03-05T09:00:00Z', '2026-03-05T09:00:00Z', 'rejected');
PRAGMA user_version = 1;
