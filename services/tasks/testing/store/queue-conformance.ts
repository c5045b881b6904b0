import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Sql } from '@reelgate/platform/sql/sql';
import type { Claim, QueuePlace } from '../../src/store/queue-store.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import { AT, begun, eventTypes, inFlight } from './opened-store.ts';
import type { OpenStore } from './opened-store.ts';

const LANE = 'lane';
const MAIN = { channel: 'main', inFlightMax: 1000 };
const FAILURE = { code: 'cancelled', message: 'the task was cancelled before it began' };
const CLAIMERS = 8;
const TIMEOUT_MS = 60_000;

interface Waiter {
  readonly account?: string;
  readonly token?: string;
  readonly cost?: number;
  readonly lane?: string;
  readonly startBy?: number;
  readonly tokenLimit?: number;
}

const capsOf = (token: string, limit = 1000) => [
  { scope: `token:${token}`, limit },
  { scope: 'total', limit: 1000 },
];

/** Tasks that wait for a channel. */
export function queueConformance(open: OpenStore): void {
  let store: TaskStore;
  let other: TaskStore;
  let sql: Sql;
  beforeEach(async () => {
    ({ store, other, sql } = await open());
  });

  const place = (taskId: string, { account = 'acme', token = account, ...waiter }: Waiter = {}): QueuePlace => ({
    taskId,
    lane: waiter.lane ?? LANE,
    accountId: account,
    tokenId: token,
    cost: waiter.cost ?? 5,
    since: AT,
    startBy: waiter.startBy ?? AT + 1000,
    caps: capsOf(token, waiter.tokenLimit),
    mediaJson: '{}',
    refusals: 0,
  });
  /** A task of a create that waits. */
  const wait = async (id: string, waiter: Waiter = {}): Promise<void> => {
    const { account = 'acme', token = account } = waiter;
    await begun(store, id, { accountId: account, tokenId: token, caps: capsOf(token) });
    expect(await store.enqueue(place(id, waiter), 'proc_1')).toMatchObject({ id, admission: 'waiting' });
  };
  const claim = (by = store, to = MAIN, lane = LANE): Promise<Claim> => by.claim(lane, to, { owner: 'proc_2', at: AT });
  const claimId = async (): Promise<string> => {
    const claimed = await claim();
    return claimed.outcome === 'claimed' ? claimed.task.id : claimed.outcome;
  };
  const claimAll = async (most = 100): Promise<readonly string[]> => {
    const ids: string[] = [];
    while (ids.length < most) {
      const id = await claimId();
      if (!id.startsWith('task')) break;
      ids.push(id);
    }
    return ids;
  };

  test('a task that waits is seen by its owner, counts nowhere in flight, and has no due poll', async () => {
    await wait('task_1');

    expect(await store.findOwned('acme', 'task_1')).toMatchObject({ state: 'queued', admission: 'waiting' });
    expect(await inFlight(store, 'token:acme', 'total', 'channel:main')).toEqual([0, 0, 0]);
    expect(await store.countWaiting('acme')).toEqual({ ofAccount: 1, total: 1 });
    expect(await store.countWaiting('umbrella')).toEqual({ ofAccount: 0, total: 1 });
    expect(await store.listLanes()).toEqual([LANE]);
    expect(await eventTypes(store, 'task_1')).toEqual(['created', 'waits']);
    expect(await store.claimDue('main', { now: AT * 2, leaseUntil: AT * 3, limit: 9, owner: 'proc_1' })).toEqual([]);
  });

  test('a create that another process took over does not wait', async () => {
    await begun(store, 'task_1', { caps: capsOf('acme') });
    await other.disown('task_1');

    expect(await store.enqueue(place('task_1'), 'proc_1')).toBeUndefined();
    expect(await store.countWaiting('acme')).toEqual({ ofAccount: 0, total: 0 });
    expect(await store.inFlight('total')).toBe(1);
  });

  test('a create that waits already does not wait once more', async () => {
    await wait('task_1');

    expect(await other.enqueue(place('task_1'), 'proc_1')).toBeUndefined();
    expect(await store.countWaiting('acme')).toEqual({ ofAccount: 1, total: 1 });
  });

  test('a turn writes the owner and a started attempt, and counts the task where a create does', async () => {
    await wait('task_1');
    const claimed = await claim();

    expect(claimed).toMatchObject({
      outcome: 'claimed',
      number: 1,
      task: { id: 'task_1', admission: 'waiting' },
      place: place('task_1'),
    });
    expect(await store.attempts('task_1')).toEqual([{ number: 1, channel: 'main', outcome: 'started', startedAt: AT }]);
    const counters = ['token:acme', 'total', 'channel:main', 'channel:main:account:acme'];
    expect(await inFlight(store, ...counters)).toEqual([1, 1, 1, 1]);
    expect(await store.countWaiting('acme')).toEqual({ ofAccount: 0, total: 0 });
    expect(await store.listOwnedCreateIds('proc_2', 9)).toEqual(['task_1']);
    expect(await claim()).toEqual({ outcome: 'empty' });
  });

  test('an accepted turn is a task like any other, and keeps no place', async () => {
    await wait('task_1');
    await claim();
    const mapping = { channel: 'main', upstreamAccount: 'vendor', upstreamId: 'up-1' };

    expect(await store.accept('task_1', { number: 1, mapping, at: AT, nextPollAt: AT })).toBe('accepted');
    await store.removePlace('task_1');

    expect(await store.find('task_1')).toMatchObject({ admission: 'accepted', mapping });
    expect(await sql.read('SELECT task_id FROM waiting')).toEqual([]);
    expect(await store.listOwnedCreateIds('proc_2', 9)).toEqual([]);
    await store.finish('task_1', { state: 'failed', at: AT });
    expect(await inFlight(store, 'token:acme', 'total', 'channel:main')).toEqual([0, 0, 0]);
  });

  test('a place whose task was accepted before its process died is removed by a sweep, and no other one', async () => {
    for (const id of ['task_1', 'task_2', 'task_3']) await wait(id);
    await claim();
    await claim();
    const mapping = { channel: 'main', upstreamAccount: 'vendor', upstreamId: 'up-1' };
    await store.accept('task_1', { number: 1, mapping, at: AT, nextPollAt: AT });

    expect(await store.removeOldPlaces(9)).toBe(1);
    expect(await sql.read('SELECT task_id FROM waiting ORDER BY task_id')).toEqual([
      { task_id: 'task_2' },
      { task_id: 'task_3' },
    ]);
  });

  test('a lost answer leaves the task as unknown, and a dead process gives its turn to the recovery', async () => {
    await wait('task_1');
    await claim();

    expect((await store.listAbandoned(['proc_2'], 9)).map(({ id }) => id)).toEqual(['task_1']);
    expect(await other.disown('task_1')).toBe(true);
    const lost = { number: 1, mapping: { channel: 'main', upstreamAccount: 'vendor' }, error: 'lost', at: AT };
    expect(await other.leaveUnknown('task_1', lost)).toMatchObject({ admission: 'unknown' });
    expect(
      await store.returnToQueue('task_1', { number: 1, owner: 'proc_2', channel: 'main', error: 'late', at: AT }),
    ).toBe(false);
    expect((await store.attempts('task_1')).map(({ outcome }) => outcome)).toEqual(['unknown']);
  });

  test('a lost answer gives a task that its owner sees no earlier version, even if the clock was set back', async () => {
    await wait('task_1');
    await claim();
    const lost = { number: 1, mapping: { channel: 'main', upstreamAccount: 'vendor' }, error: 'lost', at: AT - 1000 };

    expect(await store.leaveUnknown('task_1', lost)).toMatchObject({ updatedAt: AT + 1 });
  });

  test('a task that returns has its place, its charge and its counters back, and its next attempt another number', async () => {
    await wait('task_1', { account: 'acme' });
    await wait('task_2', { account: 'umbrella' });
    expect(await claimId()).toBe('task_1');

    expect(
      await store.returnToQueue('task_1', { number: 1, owner: 'proc_2', channel: 'main', error: 'busy', at: AT }),
    ).toBe(true);

    expect(await inFlight(store, 'token:acme', 'total', 'channel:main')).toEqual([0, 0, 0]);
    expect(await store.countWaiting('acme')).toEqual({ ofAccount: 1, total: 2 });
    expect(await claim()).toMatchObject({ task: { id: 'task_1' }, number: 2 });
    expect(await claimId()).toBe('task_2');
  });

  test.each([
    ['of another process', 'proc_3', 1],
    ['of an earlier turn', 'proc_2', 1],
  ])('a return %s takes no turn back', async (_which, owner, number) => {
    await wait('task_1');
    await claim();
    if (owner === 'proc_2') {
      await store.returnToQueue('task_1', { number: 1, owner, channel: 'main', error: 'busy', at: AT });
      await claim();
    }

    expect(await other.returnToQueue('task_1', { number, owner, channel: 'main', error: 'late', at: AT })).toBe(false);
    expect((await store.attempts('task_1')).at(-1)).toMatchObject({ outcome: 'started' });
    expect(await store.inFlight('channel:main')).toBe(1);
  });

  test('a task that returns in another lane waits there', async () => {
    await wait('task_1');
    await claim();
    await store.returnToQueue('task_1', {
      number: 1,
      owner: 'proc_2',
      channel: 'main',
      error: 'unfit',
      at: AT,
      lane: 'other lane',
    });

    expect(await store.listLanes()).toEqual(['other lane']);
    expect(await claim()).toEqual({ outcome: 'empty' });
    expect(await claim(store, MAIN, 'other lane')).toMatchObject({ place: { lane: 'other lane' }, number: 2 });
  });

  test('a task that returns for a time has no turn before it, and has waited since its create', async () => {
    await wait('task_1');
    const { since } = (await store.findPlace('task_1'))!;
    await claim();
    const attempt = { number: 1, owner: 'proc_2', channel: 'main', error: 'busy', at: AT };
    await store.returnToQueue('task_1', { ...attempt, lane: 'other lane', notBefore: AT + 5 });

    expect(await store.listLanes()).toEqual([]);
    expect(await store.startScheduled(AT + 4, 9)).toBe(0);
    expect(await store.startScheduled(AT + 5, 9)).toBe(1);
    expect(await store.findPlace('task_1')).toMatchObject({ lane: 'other lane', since });
    expect(await claim(store, MAIN, 'other lane')).toMatchObject({ number: 2 });
  });

  test('a task that waits ends once, and never at its turn', async () => {
    await wait('task_1');
    await wait('task_2');
    await claim();

    expect(await store.finishWaiting('task_1', { state: 'failed', at: AT, failure: FAILURE })).toBeUndefined();
    expect(await store.finishWaiting('task_2', { state: 'failed', at: AT, failure: FAILURE })).toEqual({});
    expect(await other.finishWaiting('task_2', { state: 'failed', at: AT, failure: FAILURE })).toBeUndefined();

    expect(await store.find('task_2')).toMatchObject({ state: 'failed', failure: FAILURE });
    expect(await eventTypes(store, 'task_2')).toEqual(['created', 'waits', 'failed']);
    expect((await store.listUnsettled({ before: AT + 1, beyond: AT * 9, limit: 9 })).map(({ id }) => id)).toEqual([
      'task_2',
    ]);
    expect(await claim()).toEqual({ outcome: 'empty' });
    expect(await store.countWaiting('acme')).toEqual({ ofAccount: 0, total: 0 });
  });

  test('a task whose time comes ends at the same moment if its owner cancels it', async () => {
    const ids = Array.from({ length: 20 }, (_none, index) => `task_${index + 100}`);
    for (const id of ids) {
      await begun(store, id, { accountId: 'acme', tokenId: 'acme', caps: capsOf('acme') });
      const scheduled = { lane: 'scheduled', nextLane: LANE, notBefore: AT };
      await store.enqueue({ ...place(id), ...scheduled }, 'proc_1');
      const [times] = await Promise.all([
        other.finishWaiting(id, { state: 'failed', at: AT, failure: FAILURE }),
        store.startScheduled(AT, 9),
      ]);
      expect(times).toEqual({});
    }
  });

  test('tasks that wait in vain are listed, the first one first, and not at their turn', async () => {
    await wait('task_1', { startBy: AT + 30 });
    await wait('task_2', { startBy: AT + 20 });
    await wait('task_3', { startBy: AT + 40 });

    expect((await store.listExpired(AT + 30, 9)).map(({ task }) => task.id)).toEqual(['task_2', 'task_1']);
    expect((await store.listExpired(AT + 30, 1)).map(({ task }) => task.id)).toEqual(['task_2']);
    await claim();
    expect((await store.listExpired(AT + 30, 9)).map(({ task }) => task.id)).toEqual(['task_2']);
  });

  test('no deadline counts the time of a task in the queue', async () => {
    await wait('task_1');
    expect(await store.listLate('soft', AT * 2, 9)).toEqual([]);
    expect(await store.listLate('hard', AT * 2, 9)).toEqual([]);
    await store.claim(LANE, MAIN, { owner: 'proc_2', at: AT + 50 });

    expect(await store.listLate('soft', AT + 50, 9)).toEqual([]);
    expect((await store.listLate('soft', AT + 51, 9)).map(({ id }) => id)).toEqual(['task_1']);
  });

  test.each([
    ['channel', { ...MAIN, inFlightMax: 1 }, 'channel:main'],
    ['service', MAIN, 'total'],
  ])('a full %s gives no turn, and nothing is written', async (_what, to, scope) => {
    await wait('task_1');
    await wait('task_2');
    await claim();
    const limit = scope === 'total' ? 1 : 1000;
    await sql.write('UPDATE waiting SET caps_json = $1', [JSON.stringify([{ scope: 'total', limit }])]);

    expect(await claim(store, to)).toEqual({ outcome: 'full', scope });
    expect(await store.attempts('task_2')).toEqual([]);
    expect(await store.countWaiting('acme')).toEqual({ ofAccount: 1, total: 1 });
    expect(await store.inFlight('total')).toBe(1);
  });

  describe('turns', () => {
    test('within a token the first task is first', async () => {
      for (const id of ['task_1', 'task_2', 'task_3']) await wait(id);
      expect(await claimAll()).toEqual(['task_1', 'task_2', 'task_3']);
    });

    test('accounts take turns, however many tasks one of them has', async () => {
      for (let index = 10; index < 20; index += 1) await wait(`task_flood_${index}`, { account: 'acme' });
      for (const id of ['task_a', 'task_b']) await wait(id, { account: 'umbrella' });

      expect(await claimAll(5)).toEqual(['task_flood_10', 'task_a', 'task_flood_11', 'task_b', 'task_flood_12']);
    });

    test('tokens of an account take turns within those of the account', async () => {
      for (const id of ['task_1', 'task_2', 'task_3']) await wait(id, { account: 'acme', token: 'token_1' });
      await wait('task_4', { account: 'acme', token: 'token_2' });
      await wait('task_5', { account: 'umbrella' });

      expect(await claimAll()).toEqual(['task_1', 'task_5', 'task_4', 'task_2', 'task_3']);
    });

    test('a task that costs twice as much waits for twice the turn of the others', async () => {
      for (const id of ['task_1', 'task_2']) await wait(id, { account: 'acme', cost: 10 });
      for (const id of ['task_3', 'task_4', 'task_5', 'task_6']) await wait(id, { account: 'umbrella', cost: 5 });

      expect(await claimAll()).toEqual(['task_1', 'task_3', 'task_4', 'task_2', 'task_5', 'task_6']);
    });

    test('an account with twice the weight has twice the turns', async () => {
      for (const id of ['task_1', 'task_2', 'task_3', 'task_4']) await wait(id, { account: 'acme' });
      for (const id of ['task_5', 'task_6']) await wait(id, { account: 'umbrella' });
      await sql.write("UPDATE queue_accounts SET weight = 2 WHERE account_id = 'acme'");

      expect(await claimAll()).toEqual(['task_1', 'task_5', 'task_2', 'task_3', 'task_6', 'task_4']);
    });

    test('an account that returns has saved no turns, and owes few', async () => {
      for (let index = 10; index < 20; index += 1) await wait(`task_${index}`, { account: 'acme' });
      await wait('task_idle', { account: 'umbrella' });
      expect(await claimAll(8)).toContain('task_idle');
      for (let index = 30; index < 33; index += 1) await wait(`task_${index}`, { account: 'umbrella' });
      expect(await claimAll(4)).toEqual(['task_30', 'task_17', 'task_31', 'task_18']);

      // a large debt of an earlier time
      await sql.write("UPDATE queue_accounts SET used = used + 1000000000 WHERE account_id = 'acme'");
      expect(await claimAll()).toEqual(['task_32', 'task_19']);
      await wait('task_50', { account: 'umbrella', cost: 1 });
      await wait('task_40', { account: 'acme' });
      for (let index = 51; index < 90; index += 1) await wait(`task_${index}`, { account: 'umbrella', cost: 1 });
      expect((await claimAll()).indexOf('task_40')).toBe(30);
    });

    test('what was used of a lane is forgotten once none waits in it and no turn of it may return', async () => {
      await wait('task_1', { account: 'acme' });
      await wait('task_2', { account: 'umbrella', lane: 'busy' });
      const rows = async (): Promise<unknown> =>
        sql.read(
          `SELECT lane, account_id FROM queue_accounts WHERE account_id <> ''
           UNION ALL SELECT lane, token_id FROM queue_tokens ORDER BY lane`,
        );
      const ofLane = (lane: string, account: string) => ({ lane, account_id: account });
      const busy = [ofLane('busy', 'umbrella'), ofLane('busy', 'umbrella')];
      const both = [...busy, ofLane(LANE, 'acme'), ofLane(LANE, 'acme')];

      await store.removeIdleFlows(9);
      expect(await rows()).toEqual(both);
      expect(await claimId()).toBe('task_1');
      await store.removeIdleFlows(9);
      expect(await rows()).toEqual(both);
      await store.removePlace('task_1');
      expect(await store.removeIdleFlows(9)).toBeGreaterThanOrEqual(2);
      expect(await rows()).toEqual(busy);
      await wait('task_3', { account: 'acme' });
      expect(await claimId()).toBe('task_3');
    });

    test('accounts that enter an empty lane at the same moment owe few turns to each other', async () => {
      const accounts = Array.from({ length: CLAIMERS }, (_none, index) => `account-${index}`);
      for (const [index, account] of accounts.entries())
        await sql.write('INSERT INTO queue_accounts (lane, account_id, used) VALUES ($1, $2, $3)', [
          LANE,
          account,
          index * 1_000_000_000_000,
        ]);
      await Promise.all(
        accounts.map(async (account, index) => {
          const [id, by] = [`task_${index}`, index % 2 === 0 ? store : other];
          await begun(by, id, { accountId: account, tokenId: account, caps: capsOf(account) });
          await by.enqueue(place(id, { account }), 'proc_1');
        }),
      );

      const used = (await sql.read('SELECT used FROM queue_accounts WHERE waiting > 0')).map((row) =>
        Number(row['used']),
      );
      expect(used).toHaveLength(CLAIMERS);
      expect(Math.max(...used) - Math.min(...used)).toBeLessThanOrEqual(30_000_000 * CLAIMERS);
    });

    test('a token at its limit steps aside for the others, until one of its tasks ends', async () => {
      for (const id of ['task_1', 'task_2']) await wait(id, { account: 'acme', tokenLimit: 1 });
      await wait('task_3', { account: 'umbrella' });
      expect(await claimAll()).toEqual(['task_1', 'task_3']);

      await store.finish('task_1', { state: 'failed', at: AT });
      expect(await claimAll()).toEqual([]);
      await store.unblock('other');
      expect(await claimAll()).toEqual([]);
      await store.unblock('acme');
      expect(await claimAll()).toEqual(['task_2']);
    });

    test('an account whose other tokens are at their limits keeps no turn from the others', async () => {
      for (const id of ['task_1', 'task_2'])
        await wait(id, { account: 'acme', token: 'token_1', cost: 1, tokenLimit: 1 });
      for (const id of ['task_3', 'task_4']) await wait(id, { account: 'acme', token: 'token_2', cost: 10 });
      for (const id of ['task_5', 'task_6']) await wait(id, { account: 'umbrella', cost: 100 });

      expect(await claimAll()).toEqual(['task_1', 'task_5', 'task_3', 'task_4', 'task_6']);
      expect(await store.listBlocked('', 9)).toEqual(['token_1']);
    });

    test('a task that returns has its turn again, whatever was at its limit in the meantime', async () => {
      for (const id of ['task_1', 'task_2']) await wait(id, { tokenLimit: 1 });
      expect(await claimAll()).toEqual(['task_1']);
      await store.finishWaiting('task_2', { state: 'failed', at: AT, failure: FAILURE });
      await store.returnToQueue('task_1', { number: 1, owner: 'proc_2', channel: 'main', error: 'busy', at: AT });

      expect(await claimAll()).toEqual(['task_1']);
    });

    test('a token at its limit is listed, so that a sweep gives it its turn', async () => {
      for (const id of ['task_1', 'task_2']) await wait(id, { account: 'acme', tokenLimit: 1 });
      expect(await claimAll()).toEqual(['task_1']);
      await store.finish('task_1', { state: 'failed', at: AT });
      expect(await store.listBlocked('', 9)).toEqual(['acme']);
      expect(await store.listBlocked('acme', 9)).toEqual([]);
      for (const tokenId of await store.listBlocked('', 9)) await store.unblock(tokenId);

      expect(await claimAll()).toEqual(['task_2']);
    });

    test('a task that ended without its place loses it, and the next one has its turn', async () => {
      await wait('task_1');
      await wait('task_2');
      await store.finish('task_1', { state: 'failed', at: AT });

      expect(await claimAll()).toEqual(['task_2']);
      expect(await store.countWaiting('acme')).toEqual({ ofAccount: 0, total: 0 });
    });

    test('counts that disagree with the places are counted anew', async () => {
      await wait('task_1');
      await sql.write('UPDATE queue_accounts SET waiting = 7');
      await sql.write('UPDATE queue_tokens SET waiting = 7');
      expect(await claimAll()).toEqual(['task_1']);
      expect(await store.countWaiting('acme')).toEqual({ ofAccount: 0, total: 0 });
    });

    test(
      'claimers at the same moment take each task once, and their counts agree with the places',
      async () => {
        const accounts = ['acme', 'umbrella', 'hooli'];
        for (let index = 100; index < 160; index += 1)
          await wait(`task_${index}`, { account: accounts[index % accounts.length]! });
        const taken: string[] = [];
        const claimer = async (by: TaskStore): Promise<void> => {
          for (let empty = 0; empty < 20;) {
            const claimed = await claim(by);
            if (claimed.outcome === 'claimed') taken.push(claimed.task.id);
            else empty += 1;
          }
        };
        await Promise.all(Array.from({ length: CLAIMERS }, (_none, index) => claimer(index % 2 === 0 ? store : other)));
        // a claim passes over an account that another one has locked
        taken.push(...(await claimAll()));

        expect(taken.toSorted()).toEqual(Array.from({ length: 60 }, (_none, index) => `task_${index + 100}`));
        expect(await store.countWaiting('acme')).toEqual({ ofAccount: 0, total: 0 });
        expect(await store.inFlight('channel:main')).toBe(60);
        for (const id of taken) expect(await store.attempts(id)).toHaveLength(1);
      },
      TIMEOUT_MS,
    );

    test(
      'claims, ends and returns at the same moment lose no task and end none twice',
      async () => {
        const ids = Array.from({ length: 40 }, (_none, index) => `task_${index + 100}`);
        for (const id of ids) await wait(id, { account: Number(id.slice(5)) % 2 === 0 ? 'acme' : 'umbrella' });
        const returned = new Set<string>();
        const work = async (by: TaskStore): Promise<void> => {
          for (let empty = 0; empty < 20;) {
            const claimed = await claim(by);
            if (claimed.outcome !== 'claimed') empty += 1;
            else if (!returned.has(claimed.task.id)) {
              returned.add(claimed.task.id);
              const { number } = claimed;
              await by.returnToQueue(claimed.task.id, {
                number,
                owner: 'proc_2',
                channel: 'main',
                error: 'busy',
                at: AT,
              });
            }
          }
        };
        const ended = ids.filter((_id, index) => index % 3 === 0);
        const ends = Promise.all(
          ended.map(async (id) => (await other.finishWaiting(id, { state: 'failed', at: AT })) && id),
        );
        await Promise.all([work(store), work(other), work(store), work(other), ends]);
        // a claim passes over an account that another one has locked
        await claimAll();

        const gone = new Set((await ends).filter((id) => id !== undefined));
        const states = await Promise.all(ids.map(async (id) => [id, (await store.find(id))?.state] as const));
        expect(states.filter(([id, state]) => (state === 'failed') !== gone.has(id))).toEqual([]);
        expect(await store.inFlight('channel:main')).toBe(ids.length - gone.size);
        expect(await store.countWaiting('acme')).toEqual({ ofAccount: 0, total: 0 });
      },
      TIMEOUT_MS,
    );
  });
}
