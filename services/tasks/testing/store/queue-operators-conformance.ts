import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Sql } from '@reelgate/platform/sql/sql';
import { nameLane } from '../../src/domain/lane.ts';
import type { QueueClass } from '../../src/domain/lane.ts';
import type { QueuePlace, TaskStore } from '../../src/store/task-store.ts';
import { AT, begun } from './opened-store.ts';
import type { OpenStore } from './opened-store.ts';

const laneOf = (ofClass: QueueClass, model = 'fast'): string =>
  nameLane({ kind: 'generation', model, without: [], class: ofClass });
const LANE = laneOf('standard');

/** The view of the queue for operators, and their decisions over it. */
export function queueOperatorsConformance(open: OpenStore): void {
  let store: TaskStore;
  let sql: Sql;
  beforeEach(async () => {
    ({ store, sql } = await open());
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
}
