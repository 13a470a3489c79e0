/** Rises with every change of the tables below; files of other versions are refused. */
export const schemaVersion = 8;

// Times are milliseconds since the epoch. The table `rows` gets a column sort<N> and an index
// for each sort number that the seed uses.
export const schema = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE users (
  id TEXT PRIMARY KEY, email TEXT NOT NULL UNIQUE COLLATE NOCASE, password TEXT, admin INTEGER NOT NULL,
  invited INTEGER NOT NULL, created INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE sessions (
  token TEXT PRIMARY KEY, user_id TEXT NOT NULL, created INTEGER NOT NULL, used INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX sessions_by_use ON sessions (used);
CREATE TABLE api_keys (key TEXT PRIMARY KEY, user_id TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE tables (id TEXT PRIMARY KEY, name TEXT NOT NULL, parent TEXT, position INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE fields (
  id TEXT PRIMARY KEY, table_id TEXT NOT NULL, label TEXT NOT NULL, type TEXT NOT NULL, sort INTEGER,
  target_table TEXT, target_field TEXT, position INTEGER NOT NULL, UNIQUE (table_id, label)
);
CREATE TABLE rows (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, table_id TEXT NOT NULL, parent TEXT, creator TEXT,
  submitted INTEGER NOT NULL, viewers TEXT, team_viewers TEXT, locked INTEGER NOT NULL DEFAULT 0,
  conflict INTEGER NOT NULL DEFAULT 0, data TEXT NOT NULL
);
CREATE INDEX rows_of_table ON rows (table_id, id);
CREATE INDEX rows_of_parent ON rows (parent, id) WHERE parent IS NOT NULL;

CREATE TABLE organizations (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, description TEXT, created INTEGER NOT NULL, updated INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX organizations_by_name ON organizations (name);
CREATE TABLE teams (
  id TEXT PRIMARY KEY, organization_id TEXT NOT NULL, name TEXT NOT NULL, description TEXT, admin_id TEXT,
  is_all_members INTEGER NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX teams_of_organization ON teams (organization_id, name);
CREATE TABLE members (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, team_id TEXT NOT NULL, user_id TEXT NOT NULL, role TEXT NOT NULL,
  target_route TEXT, target_app TEXT, target_screen TEXT, created INTEGER NOT NULL, UNIQUE (team_id, user_id)
);
CREATE INDEX members_of_user ON members (user_id);

CREATE TABLE apps (
  id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, requester_id TEXT NOT NULL, prompt TEXT NOT NULL,
  attachments TEXT NOT NULL, created INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE children (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, row_id TEXT NOT NULL, field_id TEXT NOT NULL, content TEXT NOT NULL,
  creator TEXT NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL
);
CREATE INDEX children_of_row ON children (row_id, field_id);
CREATE TABLE files (
  key TEXT NOT NULL, resource_id TEXT NOT NULL, digest TEXT NOT NULL, filename TEXT NOT NULL, type TEXT NOT NULL,
  created INTEGER NOT NULL, PRIMARY KEY (resource_id, key)
) WITHOUT ROWID;
CREATE TABLE contents (digest TEXT PRIMARY KEY, bytes BLOB NOT NULL);

CREATE TABLE notifications (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, user_id TEXT NOT NULL, app_id TEXT NOT NULL, sender_id TEXT NOT NULL,
  message TEXT, badge INTEGER, unread INTEGER NOT NULL, created INTEGER NOT NULL
);
CREATE INDEX notifications_of_user ON notifications (user_id);
CREATE TABLE pushes (
  seq INTEGER PRIMARY KEY, user_id TEXT NOT NULL, app_id TEXT NOT NULL, sender_id TEXT NOT NULL, message TEXT,
  badge INTEGER, created INTEGER NOT NULL
);

CREATE TABLE calls (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, endpoint TEXT NOT NULL, effect TEXT NOT NULL,
  mutating INTEGER NOT NULL, user_id TEXT, status INTEGER NOT NULL, failure TEXT, request TEXT NOT NULL, fault TEXT,
  session TEXT, duration REAL, remark TEXT, headers TEXT, answer TEXT
);

PRAGMA user_version = ${schemaVersion};
`;
