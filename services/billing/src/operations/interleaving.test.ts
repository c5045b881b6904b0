import { expect } from '@jest/globals';
import fc from 'fast-check';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { test } from '@jest/globals';
import { books, expectSound } from '../../testing/books.ts';
import { callOrder } from '../../testing/call-orders.ts';
import { describeOnEngines } from '../../testing/describe-on-engines.ts';
import { aConfig, facts, order } from '../../testing/open-billing.ts';
import type { TestBilling } from '../../testing/open-billing.ts';

const TASKS = ['task_0', 'task_1', 'task_2', 'task_3'] as const;

type Call = (on: TestBilling, run: number) => Promise<unknown>;

const task = fc.constantFrom(...TASKS);
const count = fc.bigInt({ min: 0n, max: 60n });
const named = (run: number, taskId: string): string => `run${run}_${taskId}`;

const CALLS = ['call_0', 'call_1', 'call_2', 'call_3', 'call_4'] as const;
const batch = fc.uniqueArray(fc.constantFrom(...CALLS), { minLength: 1 });
const basis = fc.constantFrom(Basis.USAGE, Basis.ESTIMATE, Basis.HOLD, Basis.RELEASED);
const videoCall = (on: TestBilling, callId: string, seconds: bigint) =>
  callOrder(on, callId, { priceKeys: ['nothing', 'Alpha-H3'], facts: { seconds } });

const call: fc.Arbitrary<Call> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(task, count).map(
      ([id, seconds]): Call =>
        (on, run) =>
          on.billing.placeHold(order(on, named(run, id), { seconds })),
    ),
  },
  fc.tuple(task, count).map(
    ([id, seconds]): Call =>
      (on, run) =>
        on.billing.extendHold({ taskId: named(run, id), facts: facts({ seconds }) }),
  ),
  {
    weight: 2,
    arbitrary: fc.tuple(task, count, fc.boolean()).map(
      ([id, totalSeconds, confirmed]): Call =>
        (on, run) =>
          on.billing.settleHold({ taskId: named(run, id), totalSeconds, confirmed }),
    ),
  },
  task.map(
    (id): Call =>
      (on, run) =>
        on.billing.releaseHold({ taskId: named(run, id) }),
  ),
  fc.tuple(task, count, fc.constantFrom(TaskState.COMPLETED, TaskState.FAILED)).map(
    ([id, totalSeconds, state]): Call =>
      (on, run) =>
        on.finish({ taskId: named(run, id), state, usage: { totalSeconds } }),
  ),
  {
    weight: 2,
    arbitrary: fc.tuple(batch, count).map(
      ([ids, seconds]): Call =>
        (on, run) =>
          on.calls.placeCalls({ calls: ids.map((id) => videoCall(on, named(run, id), seconds)) }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(batch, count, basis).map(
      ([ids, seconds, how]): Call =>
        (on, run) =>
          on.calls.settleCalls({ ends: ids.map((id) => ({ callId: named(run, id), basis: how, usage: { seconds } })) }),
    ),
  },
  fc.constantFrom('0.01', '0.5', '0').map(
    (each): Call =>
      (on) =>
        on.service.reload(aConfig({ prices: { 'Alpha-H3': { per_second: each } } })),
  ),
);

/** The charged total by the lines of all tasks. Each key counts once. */
async function charged({ sql }: TestBilling): Promise<bigint> {
  const [row] = await sql.read<{ nanos: number | bigint | null }>(
    "SELECT CAST(SUM(amount_nanos) AS BIGINT) AS nanos FROM ledger_lines WHERE book = 'revenue'",
  );
  return BigInt(row?.nanos ?? 0);
}

describeOnEngines('overlapping calls', (open) => {
  test('in any number and order leave balanced books, and end each task once', async () => {
    const credit = 20n * 1_000_000_000n;
    const on = await open(aConfig({ credit: '20' }));
    let runs = 0;

    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(call, { minLength: 1, maxLength: 8 }), { maxLength: 6, size: 'max' }),
        async (rounds) => {
          runs += 1;
          for (const round of rounds) await Promise.allSettled(round.map((one) => one(on, runs)));

          await expectSound(on);
          const { balance, held, used } = await books(on);
          expect(balance).toBe(credit - (await charged(on)));
          expect(used).toBe(held + credit - balance);
          for (const taskId of TASKS) await expectEndedOnce(on, named(runs, taskId));
          expect(
            await on.sql.read(
              "SELECT id FROM calls WHERE ended_at IS NOT NULL AND basis <> 'usage' AND charged_nanos > amount_nanos",
            ),
          ).toEqual([]);
        },
      ),
      { numRuns: 25 },
    );
  }, 120_000);

  test('without usage above the hold never take the available balance below zero', async () => {
    const on = await open(aConfig({ credit: '20' }));
    const ids = fc.uniqueArray(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 30 });
    const cheap = fc.oneof(
      fc.tuple(ids, count).map(
        ([some, seconds]): Call =>
          () =>
            on.calls.placeCalls({
              calls: some.map((id) =>
                callOrder(on, `call_${id}`, { priceKeys: ['Alpha-H3__regeneration'], facts: { seconds } }),
              ),
            }),
      ),
      fc.tuple(ids, fc.constantFrom(Basis.HOLD, Basis.RELEASED)).map(
        ([some, how]): Call =>
          () =>
            on.calls.settleCalls({ ends: some.map((id) => ({ callId: `call_${id}`, basis: how })) }),
      ),
      fc.tuple(fc.integer({ min: 0, max: 400 }), count).map(
        ([id, seconds]): Call =>
          () =>
            on.billing.placeHold(order(on, `task_${id}`, { seconds })),
      ),
      fc.tuple(fc.integer({ min: 0, max: 400 }), count).map(
        ([id, seconds]): Call =>
          () =>
            on.billing.extendHold({ taskId: `task_${id}`, facts: facts({ seconds }) }),
      ),
      fc.integer({ min: 0, max: 400 }).map(
        (id): Call =>
          () =>
            on.billing.settleHold({ taskId: `task_${id}`, totalSeconds: 1n }),
      ),
      fc.integer({ min: 0, max: 400 }).map(
        (id): Call =>
          () =>
            on.billing.releaseHold({ taskId: `task_${id}` }),
      ),
    );

    await fc.assert(
      fc.asyncProperty(fc.array(cheap, { minLength: 30, maxLength: 60, size: 'max' }), async (calls) => {
        const moments: bigint[] = [];
        const watch = async (): Promise<void> => {
          const { balance, held } = await books(on);
          moments.push(balance - held);
        };

        await Promise.allSettled(
          calls.flatMap((one, index) => (index % 10 === 0 ? [watch(), one(on, 0)] : [one(on, 0)])),
        );
        await watch();

        expect(moments.filter((available) => available < 0n)).toEqual([]);
      }),
      { numRuns: 10 },
    );
    await expectSound(on);
  }, 120_000);
});

async function expectEndedOnce({ billing }: TestBilling, taskId: string): Promise<void> {
  const record = await billing.getHold({ taskId }).catch(() => undefined);
  if (record === undefined) return;
  const ends = new Set(
    record.lines
      .map(({ eventKey }) => eventKey)
      .filter((key) => !key.startsWith('hold:') && !key.startsWith('extend:')),
  );
  const isOpen = record.settlement === undefined || record.settlement.basis === Basis.DEFERRED;

  expect(ends.size).toBe(isOpen || record.hold === undefined ? 0 : 1);
}
