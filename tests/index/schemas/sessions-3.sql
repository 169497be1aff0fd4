-- sessions.db, schema 2.
CREATE TABLE sessions(
  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, cwd TEXT NOT NULL,
  transcript TEXT NOT NULL, started TEXT NOT NULL DEFAULT '', ended TEXT NOT NULL DEFAULT '',
  title TEXT NOT NULL DEFAULT '', turns INTEGER NOT NULL DEFAULT 0,
  passages INTEGER NOT NULL DEFAULT 0, size INTEGER NOT NULL DEFAULT 0,
  first_row INTEGER NOT NULL DEFAULT 0, last_row INTEGER NOT NULL DEFAULT 0);
CREATE INDEX sessions_newest ON sessions(ended);
CREATE TABLE passages(
  row INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL, turn INTEGER NOT NULL,
  part INTEGER NOT NULL, role TEXT NOT NULL, at TEXT NOT NULL, first INTEGER NOT NULL,
  last INTEGER NOT NULL, stretch INTEGER NOT NULL);
CREATE INDEX passages_turn ON passages(session, turn, part);
CREATE INDEX passages_stretch ON passages(stretch);
CREATE TABLE texts(
  row INTEGER PRIMARY KEY, text TEXT NOT NULL, message TEXT NOT NULL, agent TEXT NOT NULL,
  named TEXT NOT NULL);
CREATE TABLE files(
  name TEXT NOT NULL, row INTEGER NOT NULL, path TEXT NOT NULL,
  PRIMARY KEY(name, row, path)) WITHOUT ROWID;
CREATE TABLE messages(message INTEGER PRIMARY KEY);
CREATE TABLE cursors(
  session TEXT NOT NULL, path TEXT NOT NULL, cursor TEXT NOT NULL,
  PRIMARY KEY(session, path)) WITHOUT ROWID;
CREATE TABLE stretches(
  row INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL, size INTEGER NOT NULL);
CREATE INDEX stretches_session ON stretches(session);
CREATE TABLE totals(passages INTEGER NOT NULL, traces INTEGER NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(text, errors, tokenize = "ascii tokenchars '_'");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab('words', 'col');
CREATE VIRTUAL TABLE views USING fts5(user, rest, content = '', tokenize = "ascii tokenchars '_'");
CREATE VIRTUAL TABLE view_vocabulary USING fts5vocab('views', 'row');
INSERT INTO sessions VALUES(1, 'one', '/p', '/t/one.jsonl', '2026-03-01T09:01:00Z', '2026-03-01T09:06:00Z', 'How do we retry a payment?', 3, 4, 120, 1, 6);
INSERT INTO sessions VALUES(2, 'two', '/p', '/t/two.jsonl', '2026-03-01T09:04:00Z', '2026-03-01T09:04:00Z', 'Which port does staging use?', 2, 1, 28, 4, 5);
INSERT INTO passages VALUES(1, 1, 1, 0, 'user', '2026-03-01T09:01:00Z', 1, 1, 1);
INSERT INTO passages VALUES(2, 1, 2, 0, 'assistant', '2026-03-01T09:02:00Z', 2, 2, 1);
INSERT INTO passages VALUES(3, 1, 2, 1, 'tool', '2026-03-01T09:03:00Z', 3, 3, 1);
INSERT INTO passages VALUES(4, 2, 1, 0, 'user', '2026-03-01T09:04:00Z', 4, 4, 2);
INSERT INTO passages VALUES(6, 1, 3, 0, 'user', '2026-03-01T09:06:00Z', 6, 6, 1);
INSERT INTO texts VALUES(1, 'How do we retry a payment?', 'uuid-1', '', '');
INSERT INTO texts VALUES(2, 'With backoff, three times.', 'uuid-2', '', '');
INSERT INTO texts VALUES(3, 'make test: TypeError in src/pay.py', 'uuid-3', '', '[["src/pay.py"], ["make test"], ["TypeError: no retries"]]');
INSERT INTO texts VALUES(4, 'Which port does staging use?', 'uuid-4', '', '');
INSERT INTO texts VALUES(6, 'Make it five times, paid in Zürich', 'uuid-6', '', '');
INSERT INTO files VALUES('pay.py', 3, 'src/pay.py');
INSERT INTO messages VALUES(-8813924677533665965);
INSERT INTO messages VALUES(-5183445474206750157);
INSERT INTO messages VALUES(3613470961642568840);
INSERT INTO messages VALUES(7066129873579579664);
INSERT INTO messages VALUES(7603305967880406741);
INSERT INTO messages VALUES(8755861086518090647);
INSERT INTO cursors VALUES('one', '/t/one.jsonl', '400:ghi');
INSERT INTO cursors VALUES('two', '/t/two.jsonl', '90:def');
INSERT INTO stretches VALUES(1, 1, 120);
INSERT INTO stretches VALUES(2, 2, 38);
INSERT INTO totals VALUES(5, 0);
INSERT INTO words(rowid, text, errors) VALUES(1, 'how do we retri a payment', '');
INSERT INTO words(rowid, text, errors) VALUES(2, 'with backoff three time', '');
INSERT INTO words(rowid, text, errors) VALUES(3, 'make test typeerror type error in src_pay_py src pay_py pai py', 'typeerror type error no retri');
INSERT INTO words(rowid, text, errors) VALUES(4, 'which port does stage use', '');
INSERT INTO words(rowid, text, errors) VALUES(6, 'make it five time pai in zurich', '');
INSERT INTO views(rowid, user, rest) VALUES(1, 'how do we retri a payment make it five time pai in zurich', 'with backoff three time make test typeerror type error in src_pay_py src pay_py pai py');
INSERT INTO views(rowid, user, rest) VALUES(2, 'which port does stage use', '');
PRAGMA user_version = 3;
