import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { httpCaller } from '../harness/client.ts';
import type { HttpCaller } from '../harness/client.ts';
import { aGeneration } from '../harness/orders.ts';
import type { Program } from '../harness/program.ts';
import { formatAmount, listAttention, listTasks, readAccount } from '../harness/records.ts';
import { seeded } from '../harness/seeded.ts';
import { startScriptedProgram } from '../harness/scripted-program.ts';
import type { ScriptedProgram } from '../harness/scripted-program.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { KEYS } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';

const TIMEOUT_MS = 120_000;
const SEED = Number(process.env['REELGATE_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const PLENTY = 100_000;
/** Five seconds of 768P. */
const CENTS = 40;
const RACERS = 200;
const PAID = 50;
const CANCELS = 60;
/** However slow the machine is, the first cancel finds its task in the queue, and the second one at work or ended. */
const CERTAIN: readonly (readonly [queueMs: number, cancelAfterMs: number])[] = [
  [60_000, 0],
  [0, 900],
];
/**
 * Longer than any stall between the poll and the DELETE of a cancel. The vendor's API would remove a task that ended in
 * between, with its result.
 */
const RUNS_MS = 4000;
const CROWD = 2000;
const CROWD_PARALLEL = 64;
/** For the whole program: the services and their databases in one process. */
const MEMORY_MIB_MAX = 700;

/** An account with the money for fifty tasks, and an account with the money for all. */
function forRaces(config: TestConfig): TestConfig {
  const credit: Readonly<Record<string, string>> = { poor: String((PAID * CENTS) / 100), demo: '10000.00' };
  return {
    ...config,
    tasks: { ...config.tasks, in_flight: { per_token: PLENTY, total: PLENTY } },
    channels: config.channels.map((channel) => ({
      ...channel,
      limits: { requests_per_minute: PLENTY, in_flight: PLENTY, polls_per_minute: PLENTY },
    })),
    accounts: config.accounts.map((account) => ({ ...account, credit: credit[account.id] ?? account.credit })),
  };
}

const order = (text: string) => aGeneration(`a red boat ${text}`);
const cents = (amount: string | undefined): number => Math.round(Number(amount) * 100);

describe(`races (REELGATE_SEED=${SEED})`, () => {
  let started: ScriptedProgram | undefined;
  let upstream: ScriptedUpstream;
  let program: Program;
  let demo: HttpCaller;

  beforeAll(async () => {
    started = await startScriptedProgram({}, forRaces);
    ({ upstream, program, demo } = started);
  }, TIMEOUT_MS);
  afterAll(() => started?.end(), TIMEOUT_MS);

  const accountOf = (id: string) => readAccount(program, id);
  const untilNothingIsHeld = async (id: string): Promise<void> => {
    const deadline = performance.now() + TIMEOUT_MS / 2;
    while (cents((await accountOf(id)).held) > 0 && performance.now() < deadline) await wait(200);
    expect(cents((await accountOf(id)).held)).toBe(0);
  };

  test(
    'two hundred creates at once with the money for fifty make fifty tasks, and the others leave nothing behind',
    async () => {
      const poor = httpCaller(program.base, KEYS.poor);
      const answers = await Promise.all(
        Array.from({ length: RACERS }, (_, racer) =>
          poor.call('POST', '/v1/videos', {
            model: 'Alpha-H3',
            prompt: `a red boat [mark:poor${racer}] [gate]`,
            seconds: '5',
            size: '1280x720',
          }),
        ),
      );

      const refused = answers.filter(({ status }) => status !== 200);
      expect([answers.length - refused.length, refused.length]).toEqual([PAID, RACERS - PAID]);
      for (const { status, json, headers } of refused) {
        expect([
          status,
          (json as { error: { code: string } }).error.code,
          headers.get('retry-after'),
          headers.get('x-should-retry'),
        ]).toEqual([429, 'insufficient_quota', null, 'false']);
      }
      expect(upstream.asked.filter((mark) => mark.startsWith('poor'))).toHaveLength(PAID);
      expect(await accountOf('poor')).toMatchObject({ balance: '20', held: '20', available: '0' });
      upstream.openGate();

      await untilNothingIsHeld('poor');
      expect(await accountOf('poor')).toMatchObject({ balance: '0', held: '0', available: '0' });
      expect((await poor.call('GET', '/v1/videos?limit=100')).json).toMatchObject({ data: { length: PAID } });
      expect((await program.command('ledger', 'verify')).json).toMatchObject({ ok: true });
    },
    TIMEOUT_MS,
  );

  test(
    'a task that is cancelled at any moment of its work has one end, and the money of that end',
    async () => {
      const { whole } = seeded(SEED);
      const before = cents((await accountOf('demo')).balance);
      const outcomes = await Promise.all(
        Array.from({ length: CANCELS }, async (_, number) => {
          const [queue, after] = CERTAIN[number] ?? [whole(0, 600), whole(0, 900)];
          const taskId = await demo.create(
            '/v2/video_generation',
            order(`[mark:cancel${number}] [queue:${queue}] [take:${RUNS_MS}]`),
          );
          await wait(after);
          const { status, json } = await demo.call('POST', `/v1/videos/${taskId}/cancel`);
          return { taskId, status, code: (json as { error?: { code?: string } | null }).error?.code };
        }),
      );
      await untilNothingIsHeld('demo');

      const records = await listTasks(program, '--account', 'demo', '--limit', '1000');
      let due = 0;
      for (const { taskId, status, code } of outcomes) {
        const { json: task } = await demo.call('GET', `/v1/videos/${taskId}`);
        const { status: state, error } = task as { status: string; error?: { code: string } };
        const { amountNanos, basis } = records.find(({ id }) => id === taskId)!.settlement!;
        const charged = formatAmount(amountNanos);
        if (status === 200)
          expect([state, error?.code, charged, basis]).toEqual(['failed', 'cancelled', '0', 'BASIS_RELEASED']);
        else
          expect([status, code, state, charged, basis]).toEqual([
            ...[409, 'task_not_cancellable', 'completed', '0.4', 'BASIS_USAGE'],
          ]);
        due += cents(charged);
      }
      expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set([200, 409]));
      expect(cents((await accountOf('demo')).balance)).toBe(before - due);
      expect(await listAttention(program)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'two thousand tasks that finish at once are all completed and settled, in bounded memory',
    async () => {
      const before = cents((await accountOf('demo')).balance);
      let left = CROWD;
      await Promise.all(
        Array.from({ length: CROWD_PARALLEL }, async () => {
          while ((left -= 1) >= 0) await demo.create('/v2/video_generation', order(`[mark:crowd${left}] [gate]`));
        }),
      );
      expect(cents((await accountOf('demo')).held)).toBe(CROWD * CENTS);

      const begun = performance.now();
      upstream.openGate();
      await untilNothingIsHeld('demo');
      const tookS = ((performance.now() - begun) / 1000).toFixed(1);
      console.log(`${CROWD} tasks completed and settled in ${tookS} s, at most ${memoryMiB(program).toFixed()} MiB`);

      expect(cents((await accountOf('demo')).balance)).toBe(before - CROWD * CENTS);
      expect((await program.command('ledger', 'verify')).json).toMatchObject({
        ok: true,
        unsettled_terminal_tasks: [],
      });
      if (process.platform === 'linux') expect(memoryMiB(program)).toBeLessThan(MEMORY_MIB_MAX);
    },
    TIMEOUT_MS,
  );
});

/** The program's peak memory by Linux's count; NaN on other systems. */
function memoryMiB(program: Program): number {
  const [pid] = program.pids();
  if (process.platform !== 'linux' || pid === undefined) return Number.NaN;
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
