import { describe, expect, test } from '@jest/globals';
import type { Act } from './act-list.tsx';
import { ACTS_READ, listEntries } from '../hand-over.tsx';
import type { HandOver } from '../hand-over.tsx';

const NOW = 1_000_000;
const SINCE = 400_000;
const iso = (at: number): string => new Date(at).toISOString();
const act = (id: string, at: number, action = 'channel_paused'): Act => ({
  ...{ id, action, actor: 'ada', subject: 'east', reason: '', detailJson: '' },
  at: iso(at),
});
const event = (at: number, type: string, subject: string) => ({ at: iso(at), type, subject });
const handOver: HandOver = { since: iso(SINCE), now: iso(NOW), events: [], raised: [], hasMore: false };
const list = (changes: Partial<HandOver>, tasksActs: readonly Act[] = [], billingActs: readonly Act[] = []) =>
  listEntries({ ...handOver, ...changes }, { tasksActs: { acts: tasksActs }, billingActs: { acts: billingActs } });

describe('a hand-over', () => {
  test('is one list of acts, events and decisions, the newest first, since the mark', () => {
    const { entries, hasMore, areActsUnread } = list(
      {
        events: [event(600_000, 'circuit_opened', 'east')],
        raised: [{ at: iso(800_000), taskId: 'task_1', reason: 'unknown_status', open: true }],
      },
      [act('act_3', 900_000), act('act_1', SINCE - 1)],
      [act('act_2', 500_000, 'account_credited')],
    );

    expect(entries).toMatchObject([
      { kind: 'act', at: 900_000, act: { id: 'act_3' } },
      { kind: 'raised', at: 800_000, taskId: 'task_1', reason: 'unknown_status', isOpen: true },
      { kind: 'event', at: 600_000, type: 'circuit_opened', subject: 'east' },
      { kind: 'act', at: 500_000, act: { id: 'act_2' } },
    ]);
    expect([hasMore, areActsUnread]).toEqual([false, false]);
  });

  test('leaves what happened after its mark to the next one', () => {
    expect(list({}, [act('act_1', NOW + 1)]).entries).toEqual([]);
  });

  test.each([
    ['every act that was read is new', SINCE, true],
    ['the oldest act that was read is from before the mark', SINCE - 1, false],
  ])('says whether there is more: %s', (_case, oldestAt, hasMore) => {
    const acts = Array.from({ length: ACTS_READ }, (_, at) =>
      act(`act_${String(1000 - at)}`, at === ACTS_READ - 1 ? oldestAt : NOW - at),
    );
    const listed = list({}, acts);

    expect(listed.hasMore).toBe(hasMore);
    expect(listed.entries.length).toBeLessThanOrEqual(ACTS_READ);
  });

  test('without the acts of a service shows the rest, and says that acts are missing', () => {
    const events = [event(600_000, 'circuit_opened', 'east')];
    const { entries, areActsUnread } = listEntries({ ...handOver, events }, { tasksActs: { acts: [] } });

    expect(areActsUnread).toBe(true);
    expect(entries).toMatchObject([{ kind: 'event', type: 'circuit_opened' }]);
  });

  test('names the services that took a configuration up in one minute as one entry', () => {
    const applied = (at: number, subject: string) => event(at, 'configuration_applied', subject);
    const { entries } = list({
      events: [applied(600_100, 'gateway'), applied(600_000, ''), applied(600_050, 'billing'), applied(500_000, '')],
    });
    const type = 'configuration_applied';

    expect(entries).toEqual([
      { kind: 'event', at: 600_100, type, subject: '', services: ['billing', 'gateway', 'tasks'] },
      { kind: 'event', at: 500_000, type, subject: '', services: ['tasks'] },
    ]);
  });
});
