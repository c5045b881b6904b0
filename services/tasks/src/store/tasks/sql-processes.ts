import type { Sql } from '@reelgate/platform/sql/sql';
import { text } from './task-rows.ts';
import type { ProcessStore } from '../task-store.ts';

export function sqlProcesses(sql: Sql): ProcessStore {
  return {
    heartbeat: async (processId, at) => {
      await sql.reserved.write(
        'INSERT INTO processes (id, beat_at) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET beat_at = $2',
        [processId, at],
      );
    },
    heartbeats: async () =>
      new Map(
        (await sql.reserved.read('SELECT id, beat_at FROM processes')).map((row) => [
          text(row['id']),
          Number(row['beat_at']),
        ]),
      ),
    forget: async (processId) => {
      await sql.write('DELETE FROM processes WHERE id = $1', [processId]);
    },
  };
}
