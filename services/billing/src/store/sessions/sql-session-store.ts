import type { Sql, SqlInteger, SqlWork } from '@reelgate/platform/sql/sql';
import type { EndedSessions, SessionEnd, SessionBounds, SessionStore } from './session-store.ts';

/** The digest of a row that stands for all sessions of its subject. */
const ALL = '';

type ListRow = {
  current: SqlInteger;
  all_before: SqlInteger;
  subject: string | null;
  digest: string | null;
  version: SqlInteger | null;
  expires_at: SqlInteger | null;
};
type CountRow = { count: SqlInteger };

const RAISE = 'UPDATE session_versions SET version = version + 1 WHERE id = 1 RETURNING version';
const END = `INSERT INTO ended_sessions (subject, digest, version, expires_at) VALUES ($1, $2, $3, $4)
  ON CONFLICT (subject, digest) DO NOTHING`;
const COUNT_OF_SUBJECT = 'SELECT COUNT(*) AS count FROM ended_sessions WHERE subject = $1';
const REMOVE_OF_SUBJECT = 'DELETE FROM ended_sessions WHERE subject = $1';
const COUNT = 'SELECT COUNT(*) AS count FROM ended_sessions';
const REMOVE_EXPIRED = 'DELETE FROM ended_sessions WHERE expires_at < $1';
const REMOVE_ALL = 'DELETE FROM ended_sessions';
const END_ALL = 'UPDATE session_versions SET all_before = version WHERE id = 1';
/** One statement, so that the version and the rows are of one state. */
const LIST = `SELECT v.version AS current, v.all_before, e.subject, e.digest, e.version, e.expires_at
  FROM session_versions v LEFT JOIN ended_sessions e ON e.version > $1 WHERE v.id = 1`;

export function sqlSessionStore(sql: Sql): SessionStore {
  return {
    end: (ending, bounds) => sql.transaction((query) => end(query, ending, bounds)),
    list: async (since) => {
      const rows = await sql.read<ListRow>(LIST, [since]);
      const [first] = rows;
      if (first === undefined) throw new Error('the version of the ended sessions is gone');
      return { version: Number(first.current), allBefore: Number(first.all_before), ended: rows.flatMap(toEnded) };
    },
    removeExpired: async (before) => (await sql.write(`${REMOVE_EXPIRED} RETURNING digest`, [before])).length,
  };
}

/** The row of the version is locked from here on, so endings come one after the other. */
async function end(query: SqlWork, { subject, session }: SessionEnd, bounds: SessionBounds): Promise<number> {
  const [raised] = await query<{ version: SqlInteger }>(RAISE);
  if (raised === undefined) throw new Error('the version of the ended sessions is gone');
  const version = Number(raised.version);
  if (session !== undefined) await query.changes(END, [subject, session.digest, version, session.expiresAt]);
  const isTooMany = session !== undefined && (await countBy(query, COUNT_OF_SUBJECT, [subject])) > bounds.ofSubjectMax;
  if (session === undefined || isTooMany) {
    await query.changes(REMOVE_OF_SUBJECT, [subject]);
    await query.changes(END, [subject, ALL, version, null]);
  }
  if ((await countBy(query, COUNT)) <= bounds.rowsMax) return version;
  await query.changes(REMOVE_EXPIRED, [bounds.expiredBefore]);
  if ((await countBy(query, COUNT)) <= bounds.rowsMax) return version;
  await query.changes(REMOVE_ALL);
  await query.changes(END_ALL);
  return version;
}

async function countBy(query: SqlWork, statement: string, values: readonly string[] = []): Promise<number> {
  const [row] = await query<CountRow>(statement, values);
  return Number(row?.count ?? 0);
}

function toEnded({ subject, digest, version, expires_at: expiresAt }: ListRow): readonly EndedSessions[] {
  if (subject === null || digest === null || version === null) return [];
  const session = digest === ALL ? undefined : { digest, expiresAt: Number(expiresAt) };
  return [{ subject, session, version: Number(version) }];
}
