import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Sql } from '@reelgate/platform/sql/sql';
import { nameLane } from '../../src/domain/lane.ts';
import type { QueueClass } from '../../src/domain/lane.ts';
import type { QueuePlace } from '../../src/store/queue-store.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import { AT, begun } from './opened-store.ts';
import type { OpenStore } from './opened-store.ts';

const laneOf = (ofClass: QueueClass, model = 'fast'): string =>
  nameLane({ kind: 'generation', model, without: [], class: ofClass });
const LANE = laneOf('standard');
const TIMEOUT_MS = 60_000;

/** The view of the queue for operators, and their decisions over it. */
export function queueOperatorsConformance(open: OpenStore): void {
  let store: TaskStore;
  let other: TaskStore;
  let sql: Sql;
  beforeEach(async () => {
    ({ store, other, sql } = await open());
  });

  const capsOf = (token: string) => [
    { scope: `token:${token}`, limit: 1000 },
    { scope: 'total', limit: 1000 },
  ];
  /** A task of a create that waits. */
  const wait = async (id: string, place: Partial<QueuePlace> = {}): Promise<void> => {
    const { accountId = 'acme', tokenId = accountId } = place;
    const caps = capsOf(tokenId);
    await begun(store, id, { accountId, tokenId, caps });
    const [since, startBy] = [AT, AT + 1000];
    const whole = {
      lane: LANE,
      cost: 5,
      since,
      startBy,
      mediaJson: '{}',
      refusals: 0,
      ...place,
      taskId: id,
      accountId,
      tokenId,
      caps,
    };
    expect(await store.enqueue(whole, 'proc_1')).toMatchObject({ id });
  };
  const claimId = async (lane = LANE): Promise<string> => {
    const claimed = await store.claim(lane, { channel: 'main', inFlightMax: 1000 }, { owner: 'proc_2', at: AT });
    return claimed.outcome === 'claimed' ? claimed.task.id : claimed.outcome;
  };

  describe('a place', () => {
    test('knows its position among those of its token in its lane', async () => {
      for (const id of ['task_1', 'task_3', 'task_2']) await wait(id);
      await wait('task_0', { tokenId: 'another' });
      await wait('task_4', { lane: laneOf('batch') });

      const places = await Promise.all(['task_1', 'task_2', 'task_3'].map((id) => store.findPlace(id)));
      expect(places.map((place) => place?.position)).toEqual([0, 1, 2]);
      expect([await claimId(), await claimId()]).toEqual(['task_1', 'task_0']);
      expect(await store.findPlace('task_3')).toMatchObject({ position: 1 });
    });

    test('has its times, its cost and the shares of its lane', async () => {
      await wait('task_1');
      await wait('task_2', { accountId: 'umbrella', cost: 9, since: AT + 1, startBy: AT + 7 });
      await wait('task_3', { accountId: 'hooli', lane: laneOf('batch') });
      await sql.write("UPDATE queue_accounts SET weight = 3 WHERE account_id = 'umbrella'");

      expect(await store.findPlace('task_2')).toEqual({
        taskId: 'task_2',
        lane: LANE,
        accountId: 'umbrella',
        tokenId: 'umbrella',
        cost: 9,
        since: AT + 1,
        startBy: AT + 7,
        position: 0,
        isReady: true,
        isHeld: false,
        weight: 3,
        weights: 4,
      });
    });

    test('knows that its token is at its limit, and then its account counts in no share', async () => {
      await wait('task_1');
      await wait('task_2', { accountId: 'umbrella' });
      await sql.write("UPDATE queue_tokens SET ready = 0 WHERE account_id = 'acme'");
      await sql.write("UPDATE queue_accounts SET ready = 0 WHERE account_id = 'acme'");

      expect(await store.findPlace('task_1')).toMatchObject({ isReady: false });
      expect(await store.findPlace('task_2')).toMatchObject({ isReady: true, weight: 1, weights: 1 });
    });

    test('is not found of a task that has its turn, that ended or that never waited', async () => {
      await wait('task_1');
      await wait('task_2');
      await begun(store, 'task_3');
      await claimId();
      await store.finishWaiting('task_2', { state: 'failed', at: AT });

      const places = await Promise.all(['task_1', 'task_2', 'task_3', 'task_4'].map((id) => store.findPlace(id)));
      expect(places).toEqual([undefined, undefined, undefined, undefined]);
    });
  });

  const ANN = { at: AT, actor: 'ann', reason: 'why' };
  const accounts = async (): Promise<unknown[]> =>
    sql.read(
      "SELECT lane, account_id, weight, held, waiting FROM queue_accounts WHERE account_id <> '' ORDER BY lane, account_id",
    );
  const rules = (): Promise<unknown[]> => sql.read('SELECT subject, weight, weight_until, held FROM queue_rules');
  const acts = async (): Promise<unknown[]> =>
    (
      await sql.read<{ action: string; subject: string; actor: string; reason: string; detail_json: string }>(
        'SELECT action, subject, actor, reason, detail_json FROM operator_acts ORDER BY id',
      )
    ).map(({ detail_json: detail, ...act }) => ({ ...act, detail: JSON.parse(detail) as unknown }));
  const positions = (...ids: readonly string[]): Promise<(number | undefined)[]> =>
    Promise.all(ids.map(async (id) => (await store.findPlace(id))?.position));

  describe('a list', () => {
    test('has the lanes with their tasks, the oldest one, and the weights that take turns', async () => {
      await wait('task_1', { since: AT + 5 });
      await wait('task_2', { since: AT + 3 });
      await wait('task_3', { accountId: 'umbrella', since: AT + 4 });
      await wait('task_4', { lane: laneOf('batch'), since: AT + 9 });
      await wait('task_5', { lane: laneOf('batch', 'gone') });
      await store.finishWaiting('task_5', { state: 'failed', at: AT });
      await store.setQueueWeight('umbrella', { weight: 4 }, ANN);
      await store.holdQueue({ account: 'acme' }, ANN);

      expect(await store.listWaitingLanes()).toEqual([
        { lane: laneOf('batch'), waiting: 1, oldestSince: AT + 9, weights: 0 },
        { lane: LANE, waiting: 3, oldestSince: AT + 3, weights: 4 },
      ]);
    });

    test('has the accounts of some lanes, those that wait for the longest time first', async () => {
      await wait('task_1', { since: AT + 5 });
      await wait('task_2', { accountId: 'umbrella', since: AT + 4 });
      await wait('task_3', { accountId: 'umbrella', since: AT + 7 });
      await wait('task_4', { lane: laneOf('batch'), since: AT });
      const acme = { accountId: 'acme', waiting: 1, weight: 1, isReady: true, isHeld: false };
      const all = { lanes: [LANE, laneOf('batch')] };

      expect(await store.listWaitingAccounts(all, 9)).toEqual([
        { ...acme, lane: laneOf('batch'), oldestSince: AT },
        { ...acme, lane: LANE, accountId: 'umbrella', waiting: 2, oldestSince: AT + 4 },
        { ...acme, lane: LANE, oldestSince: AT + 5 },
      ]);
      expect(await store.listWaitingAccounts(all, 1)).toHaveLength(1);
      expect(await store.listWaitingAccounts({ lanes: [LANE], accountId: 'acme' }, 9)).toEqual([
        { ...acme, lane: LANE, oldestSince: AT + 5 },
      ]);
      expect(await store.listWaitingAccounts({ lanes: [] }, 9)).toEqual([]);
    });

    test('has the tasks of an account, or of a token, that have no turn yet', async () => {
      await wait('task_0');
      await claimId();
      await wait('task_1', { since: AT + 1 });
      await wait('task_2', { tokenId: 'another', lane: laneOf('batch') });
      await wait('task_3', { accountId: 'umbrella' });
      const ids = async (...which: Parameters<TaskStore['listWaitingTasks']>): Promise<string[]> =>
        (await store.listWaitingTasks(...which)).map(({ id }) => id);

      expect(await ids({ accountId: 'acme' }, 9)).toEqual(['task_2', 'task_1']);
      expect(await ids({ accountId: 'acme' }, 1)).toEqual(['task_2']);
      expect(await ids({ accountId: 'acme', tokenId: 'acme' }, 9)).toEqual(['task_1']);
      expect(await ids({ accountId: 'none\0' }, 9)).toEqual([]);
    });
  });

  describe('a weight', () => {
    test('is that of the account in every lane, and of no other account, with its act', async () => {
      await wait('task_1');
      await wait('task_2', { lane: laneOf('batch') });
      await wait('task_3', { accountId: 'umbrella' });

      await store.setQueueWeight('acme', { weight: 3, until: Date.UTC(2026, 0, 1) }, ANN);

      expect(await accounts()).toMatchObject([
        { account_id: 'acme', weight: 3 },
        { account_id: 'acme', weight: 3 },
        { account_id: 'umbrella', weight: 1 },
      ]);
      expect(await rules()).toEqual([
        { subject: 'account:acme', weight: 3, weight_until: Date.UTC(2026, 0, 1), held: 0 },
      ]);
      expect(await acts()).toEqual([
        {
          action: 'queue_weight_set',
          subject: 'acme',
          actor: 'ann',
          reason: 'why',
          detail: { weight: 3, until: '2026-01-01T00:00:00.000Z' },
        },
      ]);
    });

    test('ends at its time, and no other one does', async () => {
      for (const accountId of ['acme', 'umbrella', 'hooli']) await wait(`task_${accountId}`, { accountId });
      await store.setQueueWeight('acme', { weight: 3, until: AT }, ANN);
      await store.setQueueWeight('umbrella', { weight: 4, until: AT + 1 }, ANN);
      await store.setQueueWeight('hooli', { weight: 5 }, ANN);

      expect(await store.endOldWeights(AT - 1, 9)).toBe(0);
      expect(await store.endOldWeights(AT, 9)).toBe(1);
      expect(await accounts()).toMatchObject([{ weight: 1 }, { weight: 5 }, { weight: 4 }]);
      expect(await rules()).toHaveLength(2);
      await store.setQueueWeight('umbrella', { weight: 4 }, ANN);
      expect(await store.endOldWeights(AT + 1, 9)).toBe(0);
    });

    test('of 1 leaves no rule, unless the account is held', async () => {
      await store.setQueueWeight('acme', { weight: 3 }, ANN);
      await store.setQueueWeight('acme', { weight: 1 }, ANN);
      expect(await rules()).toEqual([]);

      await store.holdQueue({ account: 'acme' }, ANN);
      await store.setQueueWeight('acme', { weight: 1 }, ANN);
      expect(await rules()).toMatchObject([{ subject: 'account:acme', held: 1 }]);
    });

    test('that has ended leaves the account held', async () => {
      await wait('task_1');
      await store.setQueueWeight('acme', { weight: 3, until: AT }, ANN);
      await store.holdQueue({ account: 'acme' }, ANN);
      await store.endOldWeights(AT, 9);

      expect(await rules()).toEqual([{ subject: 'account:acme', weight: 1, weight_until: null, held: 1 }]);
      expect(await accounts()).toMatchObject([{ weight: 1, held: 1 }]);
    });
  });

  describe('a hold', () => {
    test('of an account holds it in every lane, once, with its act, and leaves its weight', async () => {
      await wait('task_1');
      await wait('task_2', { accountId: 'umbrella' });
      await store.setQueueWeight('acme', { weight: 3 }, ANN);

      expect(await store.holdQueue({ account: 'acme' }, ANN)).toBe(true);
      expect(await store.holdQueue({ account: 'acme' }, ANN)).toBe(false);

      expect(await accounts()).toMatchObject([{ account_id: 'acme', held: 1, weight: 3 }, { held: 0 }]);
      expect(await store.findPlace('task_1')).toMatchObject({ isHeld: true });
      expect(await store.listHeldModels()).toEqual([]);
      expect((await acts()).slice(1)).toEqual([
        { action: 'queue_held', subject: 'acme', actor: 'ann', reason: 'why', detail: { account: 'acme' } },
      ]);
    });

    test('ends with its release, once, with its act', async () => {
      await wait('task_1');
      await store.holdQueue({ account: 'acme' }, ANN);

      expect(await store.releaseQueue({ account: 'acme' }, ANN)).toBe(true);
      expect(await store.releaseQueue({ account: 'acme' }, ANN)).toBe(false);

      expect(await accounts()).toMatchObject([{ held: 0 }]);
      expect(await rules()).toEqual([]);
      expect(await acts()).toMatchObject([{ action: 'queue_held' }, { action: 'queue_released' }]);
    });

    test('of a model is listed until its release, and an account of its name is not held', async () => {
      await wait('task_1', { accountId: 'fast' });
      await store.holdQueue({ model: 'slow' }, ANN);
      await store.holdQueue({ model: 'fast' }, ANN);

      expect(await store.listHeldModels()).toEqual(['fast', 'slow']);
      expect(await accounts()).toMatchObject([{ account_id: 'fast', held: 0 }]);
      await store.releaseQueue({ model: 'fast' }, ANN);
      expect(await store.listHeldModels()).toEqual(['slow']);
    });

    test('leaves a task that may be cancelled and that ends at its time', async () => {
      await wait('task_1');
      await wait('task_2');
      await store.holdQueue({ account: 'acme' }, ANN);

      const expired = await store.listExpired(AT + 1000, 9);
      expect(expired.map(({ task }) => task.id).toSorted()).toEqual(['task_1', 'task_2']);
      expect(await store.finishWaiting('task_1', { state: 'failed', at: AT })).toEqual({});
    });
  });

  describe('a move', () => {
    test('to another class moves the place with the counts of its account and token, and its act', async () => {
      await wait('task_1');
      await wait('task_2');

      expect(await store.movePlace('task_1', { class: 'batch', first: false }, ANN)).toBe(laneOf('batch'));

      expect(await accounts()).toMatchObject([
        { lane: laneOf('batch'), waiting: 1 },
        { lane: LANE, waiting: 1 },
      ]);
      expect(await sql.read('SELECT waiting FROM queue_tokens')).toEqual([{ waiting: 1 }, { waiting: 1 }]);
      expect(await claimId(laneOf('batch'))).toBe('task_1');
      expect(await claimId()).toBe('task_2');
      const detail = { from: 'standard', to: 'batch', first: false };
      expect(await acts()).toEqual([
        { action: 'queue_task_moved', subject: 'task_1', actor: 'ann', reason: 'why', detail },
      ]);
    });

    test('to the front is before each other task of its token in its lane, the last one moved first', async () => {
      for (const id of ['task_1', 'task_2', 'task_3']) await wait(id);

      expect(await store.movePlace('task_3', { first: true }, ANN)).toBe(LANE);
      expect(await positions('task_3', 'task_1', 'task_2')).toEqual([0, 1, 2]);
      await store.movePlace('task_2', { first: true }, ANN);
      expect(await positions('task_2', 'task_3', 'task_1')).toEqual([0, 1, 2]);
    });

    test('to the front of another class is before the tasks there', async () => {
      await wait('task_1', { lane: laneOf('batch') });
      await wait('task_2');
      await store.movePlace('task_2', { class: 'batch', first: true }, ANN);

      expect(await positions('task_2', 'task_1')).toEqual([0, 1]);
    });

    test('of a task before its time changes the lane in which it waits from then on', async () => {
      await wait('task_1', { lane: 'scheduled' });
      await sql.write('UPDATE waiting SET next_lane = $1, not_before = $2', [LANE, AT + 9]);

      expect(await store.movePlace('task_1', { class: 'interactive', first: false }, ANN)).toBe(laneOf('interactive'));
      expect(await store.findPlace('task_1')).toMatchObject({
        lane: 'scheduled',
        nextLane: laneOf('interactive'),
        notBefore: AT + 9,
      });
      expect(await store.countWaiting('acme')).toEqual({ ofAccount: 1, total: 1 });
    });

    test('to the class that it has is no act', async () => {
      await wait('task_1');

      expect(await store.movePlace('task_1', { class: 'standard', first: false }, ANN)).toBe(LANE);
      expect(await acts()).toEqual([]);
    });

    test('of a task that has its turn, that ended or that never waited changes nothing', async () => {
      await wait('task_1');
      await wait('task_2');
      await claimId();
      await store.finishWaiting('task_2', { state: 'failed', at: AT });

      const moved = ['task_1', 'task_2', 'task_3'].map((id) =>
        store.movePlace(id, { class: 'batch', first: true }, ANN),
      );
      expect(await Promise.all(moved)).toEqual([undefined, undefined, undefined]);
      expect(await acts()).toEqual([]);
    });

    test(
      'at the same moment as claims loses no task and no count',
      async () => {
        const ids = Array.from({ length: 20 }, (_none, index) => `task_${index + 10}`);
        for (const id of ids) await wait(id);
        const claims = async (): Promise<string[]> => {
          const taken: string[] = [];
          for (const lane of [LANE, laneOf('batch')])
            for (let id = await claimId(lane); id.startsWith('task'); id = await claimId(lane)) taken.push(id);
          return taken;
        };
        const moves = ids.map((id) =>
          other.movePlace(id, { class: 'batch', first: Number(id.slice(5)) % 2 === 0 }, ANN),
        );
        const [taken] = await Promise.all([claims(), ...moves]);
        // a claim passes over an account that another one has locked
        taken.push(...(await claims()));

        expect(taken.toSorted()).toEqual(ids);
        expect(await store.countWaiting('acme')).toEqual({ ofAccount: 0, total: 0 });
      },
      TIMEOUT_MS,
    );
  });
}
