import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import path from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { newIds } from '@reelgate/platform/ids';
import { migrate } from '@reelgate/platform/sql/migrate';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { describeOnEngines } from '../../../testing/store/describe-on-engines.ts';
import { NOTES_MAX } from '../operator-store.ts';
import type { OperatorStore } from '../operator-store.ts';
import { sqlOperators } from './sql-operators.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../../migrations');
const AT = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;

describeOnEngines('what operators hand over', (open) => {
  let clock: FakeClock;
  let store: OperatorStore;
  beforeEach(async () => {
    clock = fakeClock(AT);
    const sql = open();
    await migrate(sql, MIGRATIONS);
    store = sqlOperators(sql, newIds(clock));
  });
  const aNote = (text: string, author = 'ann') => ({ subject: 'main', at: AT, author, text });
  const texts = async (): Promise<string[]> => (await store.notes('main')).map(({ text }) => text);
  const acts = async (): Promise<string[]> =>
    (await store.acts({ subject: 'main' }, { limit: 50 })).map(({ action, actor }) => `${actor} ${action}`);

  test('is one event, however many processes see it within a minute', async () => {
    const opened = (at: number, subject = 'main') => ({ at, type: 'circuit_opened', subject }) as const;
    await Promise.all([
      store.addServiceEvents([opened(AT + 1)]),
      store.addServiceEvents([opened(AT + 2), opened(AT, 'b')]),
    ]);
    await store.addServiceEvents([opened(AT + MINUTE_MS)]);

    const seen = await store.listServiceEvents(AT, 10);
    expect(seen.map(({ subject }) => subject)).toEqual(['main', 'main', 'b']);
    expect(seen[0]).toMatchObject({ at: timestampFromMs(AT + MINUTE_MS), type: 'circuit_opened', subject: 'main' });
    expect(await store.listServiceEvents(AT + MINUTE_MS, 10)).toHaveLength(1);
    expect(await store.listServiceEvents(AT, 1)).toHaveLength(1);
    expect(await store.removeServiceEvents(AT + MINUTE_MS, 10)).toBe(2);
  });

  test('has a mark for each operator, which only goes forward', async () => {
    expect(await store.findMark('ann')).toBeUndefined();
    expect(await store.putMark('ann', AT)).toBe(AT);
    expect(await store.putMark('ann', AT - 1)).toBe(AT);
    expect(await store.putMark('bob', AT + 5)).toBe(AT + 5);
    expect([await store.findMark('ann'), await store.findMark('bob')]).toEqual([AT, AT + 5]);
  });

  test('keeps the notes of a subject in their order, each with an act', async () => {
    await store.addNote(aNote('first'));
    await store.addNote(aNote('second', 'bob'));

    expect(await store.notes('main')).toMatchObject([
      { subject: 'main', author: 'ann', text: 'first', at: timestampFromMs(AT) },
      { author: 'bob', text: 'second' },
    ]);
    expect(await store.notes('other')).toEqual([]);
    expect(await acts()).toEqual(['bob note_added', 'ann note_added']);
  });

  test('writes the same note of an author once', async () => {
    const first = await store.addNote(aNote('mind the rate'));

    expect(await store.addNote(aNote('mind the rate'))).toEqual(first);
    await store.addNote(aNote('mind the rate', 'bob'));

    expect(await texts()).toEqual(['mind the rate', 'mind the rate']);
  });

  test('takes no more notes than its bound, also at one moment', async () => {
    const added = await Promise.all(
      Array.from({ length: NOTES_MAX + 5 }, (_, index) => store.addNote(aNote(`note ${index}`))),
    );

    expect(added.filter((note) => note !== undefined)).toHaveLength(NOTES_MAX);
    expect(await texts()).toHaveLength(NOTES_MAX);
    expect(await acts()).toHaveLength(NOTES_MAX);
  });

  test('ends a note once, with an act that no longer has its text', async () => {
    const note = await store.addNote(aNote('a secret'));
    const end = { id: note!.id, at: AT + 1, actor: 'bob', action: 'note_resolved' } as const;

    const ended = await Promise.all([store.endNote(end), store.endNote(end)]);

    expect(ended.filter(Boolean)).toHaveLength(1);
    expect(await texts()).toEqual([]);
    const [act] = await store.acts({ subject: 'main' }, { limit: 1 });
    expect(act).toMatchObject({ action: 'note_resolved', actor: 'bob', subject: 'main' });
    expect(JSON.parse(act!.detailJson)).toEqual({ id: note!.id, author: 'ann', addedAt: AT });
    expect((await store.acts({}, { limit: 50 })).map(({ detailJson }) => detailJson).join()).not.toContain('a secret');
  });
});
