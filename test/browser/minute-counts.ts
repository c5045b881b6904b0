import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Program } from '../harness/program.ts';

const MINUTE_MS = 60_000;
const BUSY_MS = 10_000;
/** Another replica of the tasks service, as the store knows one. */
const PROCESS = 'proc_of_the_test';

export interface CountedMinute {
  /** How many minutes before the running one. */
  readonly ago: number;
  readonly counts: Readonly<Record<string, number>>;
}

/** Replaces what another replica counted in the last minutes, so that no test waits for minutes. */
export function replaceCounts({ config }: Program, minutes: readonly CountedMinute[]): void {
  const database = new DatabaseSync(path.join(config.data_dir, 'tasks.sqlite'), { timeout: BUSY_MS });
  try {
    const now = Date.now() - (Date.now() % MINUTE_MS);
    database.prepare('DELETE FROM minute_counts WHERE process = ?').run(PROCESS);
    const insert = database.prepare(
      'INSERT INTO minute_counts (minute, process, channel, counts_json) VALUES (?, ?, ?, ?)',
    );
    for (const { ago, counts } of minutes) insert.run(now - ago * MINUTE_MS, PROCESS, '', JSON.stringify(counts));
  } finally {
    database.close();
  }
}
