import type { Sql } from '@reelgate/platform/sql';
import { text } from './rows.ts';
import type { ProcessStore } from './task-store.ts';

export function sqlProcesses(sql: Sql): ProcessStore {
  return {
    beat: async (processId, at) => {
      await sql.write('INSERT INTO processes (id, beat_at) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET beat_at = $2', [processId, at]);
    },
    aliveSince: async (at) => (await sql.read('SELECT id FROM processes WHERE beat_at >= $1', [at])).map((row) => text(row['id'])),
    silentSince: async (at) => (await sql.read('SELECT id FROM processes WHERE beat_at < $1', [at])).map((row) => text(row['id'])),
    forget: async (processId) => {
      await sql.write('DELETE FROM processes WHERE id = $1', [processId]);
    },
  };
}
