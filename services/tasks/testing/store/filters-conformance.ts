import { beforeEach, describe, expect, test } from '@jest/globals';
import { firstIdAt } from '@reelgate/platform/ids';
import { matchesFilter } from '../../src/domain/task.ts';
import type { TaskFilter } from '../../src/domain/task.ts';
import type { ListFilter, TaskStore } from '../../src/store/task-store.ts';
import { aContextIr, anOrder } from '../orders.ts';
import { accepted, begun, completed, idsOf } from './opened-store.ts';
import type { OpenStore } from './opened-store.ts';

/** Two tasks in a store, of which a filter matches the first. */
interface FilteredTasks<T> {
  readonly wanted: T;
  readonly ids?: readonly [matching: string, other: string];
  readonly writeMatching?: (store: TaskStore, id: string) => Promise<void>;
  readonly writeOther?: (store: TaskStore, id: string) => Promise<void>;
}

const [EARLY, LATE] = [1_000_000, 2_000_000];
const IDS = ['task_1', 'task_2'] as const;

/** Two tasks for each member of a filter: a member without a row does not compile. */
export const FILTERED: { readonly [F in keyof Required<ListFilter>]: FilteredTasks<ListFilter[F]> } = {
  accountId: { wanted: 'acme', writeOther: (store, id) => accepted(store, id, { accountId: 'rival' }) },
  states: { wanted: ['completed'], writeMatching: completed },
  model: {
    wanted: 'Other-V1',
    writeMatching: (store, id) => accepted(store, id, { order: anOrder({ model: 'Other-V1' }) }),
  },
  kind: { wanted: 'context_ir', writeMatching: (store, id) => accepted(store, id, { order: aContextIr() }) },
  tokenId: { wanted: 'token_2', writeMatching: (store, id) => accepted(store, id, { tokenId: 'token_2' }) },
  label: { wanted: 'spring', writeMatching: (store, id) => accepted(store, id, { label: 'spring' }) },
  prompt: { wanted: { whole: ['red'], beginning: 'kit' }, writeMatching: writeKite },
  taskIds: { wanted: [IDS[0]] },
  createdFrom: { wanted: LATE, ids: [idAt(LATE), idAt(EARLY)] },
  createdBefore: { wanted: LATE, ids: [idAt(EARLY), idAt(LATE)] },
  channel: { wanted: 'second', writeMatching: (store, id) => accepted(store, id, { channel: 'second' }) },
  upstream: { wanted: { accounts: ['other', 'vendor'], id: `up-${IDS[0]}` } },
  hidden: { wanted: false, writeOther: begun },
};

/** A task whose prompt has been read. */
async function writeKite(store: TaskStore, id: string): Promise<void> {
  await accepted(store, id);
  const from = await store.getPromptReading();
  await store.keepPromptWords(from, { ...from, seenId: id }, [{ id, accountId: 'acme', words: ['red', 'kite'] }]);
}

function idAt(ms: number): string {
  return `${firstIdAt('task', ms)}1`;
}

export type FilterMember = keyof typeof FILTERED;

/** Writes the two tasks of a member, and returns their ids. */
export async function writeFiltered(store: TaskStore, member: FilterMember): Promise<readonly [string, string]> {
  const { ids = IDS, writeMatching = accepted, writeOther = accepted }: FilteredTasks<unknown> = FILTERED[member];
  await writeMatching(store, ids[0]);
  await writeOther(store, ids[1]);
  return ids;
}

const LISTS: Readonly<Record<string, (store: TaskStore, filter: ListFilter) => Promise<number>>> = {
  'a whole list': async (store, filter) => (await store.list(filter, { limit: 9 })).length,
  'a count': (store, filter) => store.count(filter),
  'a list in steps': async (store, filter) => (await store.listStep(filter, { limit: 9 })).tasks.length,
  'a list of the unfinished': async (store, filter) => {
    const states = filter.states ?? (['queued', 'in_progress'] as const);
    return (await store.listStep({ ...filter, states }, { limit: 9 })).tasks.length;
  },
};

/** The members that narrow a watch. */
const WATCHED = { accountId: true, states: true, model: true, kind: true } satisfies Record<keyof TaskFilter, true>;

/** Every member of a filter narrows every list. */
export function filtersConformance(open: OpenStore): void {
  let store: TaskStore;
  beforeEach(async () => {
    ({ store } = await open());
  });
  const members = Object.keys(FILTERED) as FilterMember[];
  const watched = Object.keys(WATCHED) as (keyof TaskFilter)[];

  describe.each(Object.entries(LISTS))('%s', (_name, count) => {
    test.each(members)('is narrowed by %s', async (member) => {
      const [matching] = await writeFiltered(store, member);
      const filter: ListFilter = { hidden: true, [member]: FILTERED[member].wanted };

      expect(await count(store, { hidden: true, states: [] })).toBe(2);
      expect(await count(store, filter)).toBe(1);
      expect(idsOf(await store.list(filter, { limit: 9 }))).toEqual([matching]);
    });
  });

  test.each(watched)('the changes of an account are narrowed by %s', async (member) => {
    const [matching] = await writeFiltered(store, member);
    const filter = { accountId: 'acme', [member]: FILTERED[member].wanted };

    expect(idsOf(await store.listChangedTasks(filter, { at: 0, id: '' }, 9))).toEqual([matching]);
  });

  test.each(watched)('a task in memory is compared by %s as in the store', async (member) => {
    const ids = await writeFiltered(store, member);
    const filter = { [member]: FILTERED[member].wanted };
    const tasks = await Promise.all(ids.map((id) => store.find(id)));

    expect(tasks.map((task) => matchesFilter(filter, task!))).toEqual([true, false]);
  });
}
