import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { HOUR_MS } from '../../testing/call-orders.ts';
import { expectSound } from '../../testing/books.ts';
import { aConfig, openBilling, temporaryLocation } from '../../testing/open-billing.ts';
import type { TestBilling } from '../../testing/open-billing.ts';

const PROGRAM = fileURLToPath(new URL('../../testing/spend-until-killed.ts', import.meta.url));
const WORDS_BEFORE_THE_KILL = 400;

/** Runs the program, kills it in the middle of its work, and returns what it reported as done. */
async function spendUntilKilled(dataDir: string, prefix: string): Promise<string[]> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM, dataDir, prefix], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line);
    if (said.length === WORDS_BEFORE_THE_KILL) child.kill('SIGKILL');
  }
  return said;
}

/** Lets every open call lapse: a confirmed one is charged its hold, and no other one is charged. */
async function assertLapsed(on: TestBilling, said: readonly string[]): Promise<void> {
  await on.clock.advance(HOUR_MS);
  await until(async () => {
    await on.clock.advance(60_000);
    return (await on.sql.read('SELECT id FROM calls WHERE ended_at IS NULL')).length === 0;
  });
  const rows = await on.sql.read<{ id: string; basis: string }>('SELECT id, basis FROM calls');
  const bases = new Map(rows.map(({ id, basis }) => [id, basis]));
  for (const line of said) {
    const [word = '', id = ''] = line.split(' ');
    if (word === 'placed') expect(['hold', 'usage']).toContain(bases.get(id));
    if (word === 'reserved') expect(bases.get(id)).toBe('released');
  }
}

test('a killed process loses nothing that it reported, charges nothing unconfirmed, and has sound books', async () => {
  const location = temporaryLocation();
  const said: string[] = [];
  for (const prefix of ['first', 'second']) said.push(...(await spendUntilKilled(location.dataDir, prefix)));

  const on = await openBilling(location, aConfig());

  expect(said.length).toBeGreaterThanOrEqual(2 * WORDS_BEFORE_THE_KILL);
  expect(new Set(said.map((line) => line.split(' ')[0]))).toEqual(
    new Set(['held', 'settled', 'placed', 'charged', 'reserved']),
  );
  const calls = new Map(
    (await on.sql.read<{ id: string; charged_nanos: number | null }>('SELECT id, charged_nanos FROM calls')).map(
      ({ id, charged_nanos: charged }) => [id, charged],
    ),
  );
  for (const line of said) {
    const [word, taskId = ''] = line.split(' ');
    if (word === 'charged') expect(calls.get(taskId)).toBe(50_000_000);
    if (word === 'placed') expect(calls.has(taskId)).toBe(true);
    if (word !== 'held' && word !== 'settled') continue;
    const { hold, settlement } = await on.billing.getHold({ taskId });
    expect(hold?.amountNanos).toBe(80_000_000n);
    if (word === 'settled') expect(settlement?.basis).toBe(Basis.USAGE);
  }
  await expectSound(on);

  await assertLapsed(on, said);
  await expectSound(on);
  await on.stop();
  location.remove();
}, 120_000);
