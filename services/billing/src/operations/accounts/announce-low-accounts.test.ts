import { expect, test } from '@jest/globals';
import { newMetrics } from '@reelgate/platform/metrics/metrics';
import { until } from '@reelgate/platform/testing/until';
import { BalanceLowSchema } from '@reelgate/proto/billing/v1/billing_events';
import type { BalanceLow } from '@reelgate/proto/billing/v1/billing_events';
import { CENT, DOLLAR } from '../../../testing/books.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import type { Open } from '../../../testing/describe-on-engines.ts';
import { aConfig, order } from '../../../testing/open-billing.ts';
import type { TestBilling } from '../../../testing/open-billing.ts';
import { announceLowCredit } from '../../events/announce-low-credit.ts';
import type { LowAccountStore } from '../../store/accounts/account-store.ts';
import { sqlLowAccounts } from '../../store/accounts/sql-low-accounts.ts';
import { lowAccounts } from './watch-low-accounts.ts';

const PAGE = 10;
const REPEAT_MS = 30_000;

interface Announced {
  readonly id: string;
  readonly event: BalanceLow;
}

/** The pass of one replica beside the running service, whose own pass waits for the clock. */
interface Replica {
  pass(): Promise<unknown>;
  /** What reached the bus. */
  readonly announced: Announced[];
  /** Makes the next step of this kind fail, as the end of the process would. */
  fail(step: 'publish' | 'mark'): void;
}

function replica({ sql, clock }: TestBilling, page = PAGE): Replica {
  const announced: Announced[] = [];
  let failing: string | undefined;
  const step = (name: string): void => {
    if (failing !== name) return;
    failing = undefined;
    throw new Error(`no ${name}`);
  };
  const publish = async (_schema: unknown, event: unknown, id: unknown): Promise<void> => {
    step('publish');
    announced.push({ id: id as string, event: event as BalanceLow });
  };
  const store = sqlLowAccounts(sql, page);
  const marking: LowAccountStore = {
    ...store,
    mark: async (low, repeatAt) => {
      step('mark');
      await store.mark(low, repeatAt);
    },
  };
  const announce = announceLowCredit({ publish });
  return {
    pass: lowAccounts({ store: marking, announce, metrics: newMetrics(false), clock }),
    announced,
    fail: (name) => {
      failing = name;
    },
  };
}

const credit = async (on: TestBilling, amountNanos: bigint, requestId = ''): Promise<void> => {
  await on.clock.advance(1);
  await on.accounts.creditAccount({ id: 'demo', amountNanos, reason: 'invoice 7', actor: 'ann', requestId });
};
/** A second costs eight cents. */
const spend = async (on: TestBilling, taskId: string, seconds: bigint): Promise<void> => {
  await on.billing.placeHold(order(on, taskId, { seconds }));
  await on.billing.settleHold({ taskId, totalSeconds: seconds });
};

/** The first pass of the running service has ended, and its next one waits for the clock. */
const counted = async ({ metrics }: TestBilling): Promise<void> =>
  until(async () => /^reelgate_accounts_low \d+$/m.test(await metrics.text()));

describeOnEngines('an account that runs low', (openService) => {
  const open: Open = async (value) => {
    const on = await openService(value);
    await counted(on);
    return on;
  };

  test('is announced with what is left of which credit', async () => {
    const on = await open(aConfig({ credit: '1.00' }));
    const { pass, announced } = replica(on);
    await pass();
    expect(announced).toEqual([]);

    await on.billing.placeHold(order(on, 't', { seconds: 12n }));
    await pass();

    expect(announced).toMatchObject([
      {
        event: {
          accountId: 'demo',
          creditKey: 'credit:initial:demo',
          availableNanos: 4n * CENT,
          creditNanos: DOLLAR,
          currency: 'USD',
        },
      },
    ]);
  });

  test('is announced once more after half a minute under another id, and then never for that credit', async () => {
    const on = await open(aConfig({ credit: '1.00' }));
    const { pass, announced } = replica(on);
    await spend(on, 't', 12n);

    await pass();
    await pass();
    expect(announced).toHaveLength(1);
    // The pass of the running service does the same meanwhile.
    await on.service.stop();
    await on.clock.advance(REPEAT_MS - 1);
    await pass();
    expect(announced).toHaveLength(1);
    await on.clock.advance(1);
    await pass();
    await on.clock.advance(1_000_000_000);
    await pass();

    expect(announced.map(({ event }) => event.creditKey)).toEqual(['credit:initial:demo', 'credit:initial:demo']);
    expect(new Set(announced.map(({ id }) => id)).size).toBe(2);
  });

  test('is announced again for a new credit that runs low, even one whose id has a line end', async () => {
    const on = await open(aConfig({ credit: '1.00' }));
    const { pass, announced } = replica(on);
    await spend(on, 't', 12n);
    await pass();

    await credit(on, DOLLAR, 'invoice\n8');
    await pass();
    expect(announced).toHaveLength(1);
    await spend(on, 'u', 12n);
    await pass();

    expect(announced.map(({ event }) => event.creditKey)).toEqual([
      'credit:initial:demo',
      'credit:request:demo:invoice\n8',
    ]);
    expect(announced.map(({ id }) => id)).toEqual([
      expect.stringMatching(/^[\w-]{43}$/),
      expect.stringMatching(/^[\w-]{43}$/),
    ]);
  });

  test('is never announced if it had no credit', async () => {
    const on = await open(aConfig({ credit: '0.00' }));
    const { pass, announced } = replica(on);

    await credit(on, -CENT);
    await pass();

    expect(announced).toEqual([]);
  });

  test('is found in every page', async () => {
    const value = aConfig({ credit: '1.00' });
    const other = (id: string): object => ({ id, currency: 'EUR', credit: '1', upstream_accounts: [], tokens: [] });
    const ids = ['a', 'b', 'c', 'demo', 'e'];
    const on = await open({
      ...value,
      accounts: ids.map((id) => (id === 'demo' ? value.accounts[0]! : other(id))),
    });
    for (const id of ids)
      await on.accounts.creditAccount({ id, amountNanos: -95n * CENT, reason: 'taken back', actor: 'ann' });
    const { pass, announced } = replica(on, 2);

    for (let passes = 0; passes < 3; passes += 1) await pass();

    expect(announced.map(({ event }) => event.accountId)).toEqual(ids);
  });

  test.each(['publish', 'mark'] as const)(
    'is announced under the same id by the next pass, or the next process, after a failed %s',
    async (step) => {
      const on = await open(aConfig({ credit: '1.00' }));
      const first = replica(on);
      const second = replica(on);
      await spend(on, 't', 12n);

      first.fail(step);
      await expect(first.pass()).rejects.toThrow(`no ${step}`);
      await second.pass();
      await first.pass();

      const ids = [...first.announced, ...second.announced].map(({ id }) => id);
      expect([ids.length, new Set(ids).size]).toEqual([step === 'publish' ? 1 : 2, 1]);
    },
  );

  test('is announced on the bus by the running service', async () => {
    const on = await open(aConfig({ credit: '1.00' }));
    const heard: BalanceLow[] = [];
    await on.bus.subscribe(BalanceLowSchema, 'tests', async (event) => void heard.push(event));
    await spend(on, 't', 12n);

    await until(async () => {
      await on.clock.advance(1000);
      return heard.length > 0;
    });

    expect(heard[0]).toMatchObject({ accountId: 'demo', availableNanos: 4n * CENT });
  });
});
