import path from 'node:path';
import { sqlLedgerAudit } from '@reelgate/billing/store/ledger/sql-ledger-audit';
import { systemClock } from '@reelgate/platform/clock';
import { openSqlite } from '@reelgate/platform/sql/sqlite';
import type { Sql } from '@reelgate/platform/sql/sql';
import { until } from '@reelgate/platform/testing/until';
import { httpCaller } from '../../harness/client.ts';
import { KEYS } from '../../harness/test-config.ts';
import type { BenchProgram } from '../bench-program.ts';
import { MODEL } from '../chat-request.ts';
import { copyRows } from './copy-rows.ts';
import { templateRows } from './template-rows.ts';

const DAY_MS = 86_400_000;
/** Results are kept for seven days. All copies are younger, so that none is removed while others are measured. */
const SPAN_MS = 6 * DAY_MS;
const SETTLE_MS_MAX = 30_000;
const CHAT = { model: MODEL, messages: [{ role: 'user', content: 'hello' }], max_tokens: 100 };
const STORES = ['tasks', 'billing', 'media'] as const;
/** Scattered names change pages all over an index. A store that keeps its pages in memory writes each one once. */
const FILL_CACHE_KIB = 1_000_000;

/** What the ledger says after the stores were filled. */
export interface Filled {
  readonly tasks: number;
  readonly entries: number;
}

/**
 * Runs one task and one relayed call to their ends, stops the program, copies all of their rows `count` times, checks
 * the books, and starts the program again. A command would stop the program of one process for as long.
 */
export async function fillStores({ program, upstream }: BenchProgram, count: number): Promise<Filled> {
  const stores = STORES.map((name) => openSqlite(path.join(program.config.data_dir, `${name}.sqlite`)));
  let filled: Filled;
  try {
    const caller = httpCaller(program.base, KEYS.demo);
    const task = await caller.create('/v1/videos', { model: 'Alpha-H3', prompt: 'a red boat', seconds: '5' });
    upstream.complete(upstream.ids.at(-1)!);
    await caller.finish(task);
    const { status, text } = await caller.call('POST', '/v1/chat/completions', CHAT);
    if (status !== 200) throw new Error(`the relayed call was refused: ${text}`);
    const call = await settledCall(stores);
    await program.stop();
    for (const store of stores) await store.write(`PRAGMA cache_size = -${FILL_CACHE_KIB}`);
    const { rows, names } = await templateRows(stores, [task, call]);
    const copies = { count, names, at: systemClock.now(), stepMs: Math.max(1, Math.floor(SPAN_MS / count)) };
    for (const [index, store] of stores.entries()) await copyRows(store, rows[index]!, copies);
    filled = { tasks: count, entries: await booksOf(stores[1]!) };
  } finally {
    for (const store of stores) await store.close();
  }
  await program.start();
  return filled;
}

/** Computes the balances and checks every line, as the operator's commands do. Gives the number of lines. */
async function booksOf(billing: Sql): Promise<number> {
  const ledger = sqlLedgerAudit(billing);
  await ledger.rebuild();
  const { entries, faults } = await ledger.audit(systemClock.now(), {
    signal: new AbortController().signal,
    isDiagnosis: false,
  });
  if (faults.length > 0) throw new Error(`the ledger of the copies has faults: ${faults.join('; ')}`);
  return Number(entries);
}

/** The id of the relayed call, once it, the task and both of its objects are whole. */
async function settledCall([tasks, billing, media]: readonly Sql[]): Promise<string> {
  const count = async (store: Sql | undefined, rows: string): Promise<number> => {
    const [row] = await store!.read<{ count: number }>(`SELECT COUNT(*) AS count FROM ${rows}`);
    return row!.count;
  };
  await until(
    async () =>
      (await count(tasks, 'tasks WHERE settled_at IS NOT NULL')) === 1 &&
      // the copies are found by the words of their prompts
      (await count(tasks, 'read_prompts')) === 1 &&
      (await count(billing, 'calls WHERE ended_at IS NOT NULL')) === 1 &&
      (await count(media, 'objects')) === 2,
    SETTLE_MS_MAX,
  );
  const [call] = await billing!.read<{ id: string }>('SELECT id FROM calls');
  return call!.id;
}
