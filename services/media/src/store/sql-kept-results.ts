import type { Sql } from '@reelgate/platform/sql/sql';
import type { CountResults } from './media-store.ts';

const PAGE = 1000;
const NEXT = `SELECT COUNT(*) AS count, MAX(id) AS last, SUM(kept) AS bytes,
    SUM(CASE WHEN expires_at <= $3 THEN kept ELSE 0 END) AS expiring
  FROM (SELECT o.id, o.expires_at,
      CASE WHEN o.purpose = 'result' AND o.removed_at IS NULL THEN b.bytes ELSE 0 END AS kept
    FROM objects o JOIN blobs b ON b.sha256 = o.sha256 WHERE o.id > $1 ORDER BY o.id LIMIT $2) page`;

export function sqlKeptResults(sql: Sql, page = PAGE): CountResults {
  return async ({ after, bytes, expiring }, soon) => {
    const [row] = await sql.read(NEXT, [after, page, soon]);
    return {
      after: String(row?.['last'] ?? ''),
      bytes: bytes + Number(row?.['bytes'] ?? 0),
      expiring: expiring + Number(row?.['expiring'] ?? 0),
      isWhole: Number(row?.['count'] ?? 0) < page,
    };
  };
}
