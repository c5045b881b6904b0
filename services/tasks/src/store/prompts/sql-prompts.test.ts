import path from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { newIds } from '@reelgate/platform/ids';
import { migrate } from '@reelgate/platform/sql/migrate';
import type { Sql } from '@reelgate/platform/sql/sql';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { aText, anOrder } from '../../../testing/orders.ts';
import { describeOnEngines } from '../../../testing/store/describe-on-engines.ts';
import { AT, accepted, begun, completed, idsOf } from '../../../testing/store/opened-store.ts';
import { readPrompts, removeLeftWords } from '../../operations/search/read-prompts.ts';
import { readWantedWords } from '../../domain/prompt-words.ts';
import { sqlTaskStore } from '../tasks/sql-task-store.ts';
import { sqlListSteps } from '../tasks/sql-list-steps.ts';
import { sqlWebhooks } from '../webhooks/sql-webhooks.ts';
import type { ListFilter, TaskStore } from '../task-store.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../../migrations');
const ROOMY = { caps: [{ scope: 'total', limit: 1000 }] };
const DAY_MS = 86_400_000;
const TABLES = ['tasks', 'attempts', 'task_events', 'events', 'read_prompts', 'prompt_words'];

describeOnEngines('the search by words', (open) => {
  let sql: Sql;
  let store: TaskStore;
  const clock = fakeClock();
  const newId = newIds(clock);
  const deps = (isBusy = false) => ({ store, clock, hasSpareTime: () => !isBusy });
  beforeEach(async () => {
    sql = open();
    await migrate(sql, MIGRATIONS);
    store = sqlTaskStore(sql, newId, () => ({ type: 'finished', payload: '{}' }));
  });
  const make = async (prompt: string, how = accepted, changes: object = {}): Promise<string> => {
    const id = newId('task');
    await how(store, id, { ...ROOMY, order: anOrder({ content: [{ ...aText(), text: prompt }] }), ...changes });
    await clock.advance(2000);
    return id;
  };
  const read = async (): Promise<void> => {
    await sqlWebhooks(sql, newId).dispatch({ now: clock.now(), limit: 100 });
    while ((await readPrompts(deps())) === 1);
  };
  const find = async (text: string, filter: ListFilter = { accountId: 'acme' }): Promise<readonly string[]> =>
    idsOf((await store.listStep({ ...filter, prompt: readWantedWords(text) }, { limit: 50 })).tasks);
  const rows = async (table: string): Promise<number> =>
    Number((await sql.read(`SELECT COUNT(*) AS count FROM ${table}`))[0]?.['count']);

  test('finds tasks by all words of their prompts, the newest first', async () => {
    const [first, second] = [await make('A red kite over dunes'), await make('red kites at night')];
    await make('a red car');
    await read();

    expect(await find('red kite')).toEqual([second, first]);
    expect(await find('KITE red ')).toEqual([first]);
    expect(await find('kit')).toEqual([second, first]);
    expect(await find('blue kite')).toEqual([]);
  });

  test('finds no task of another account, by any filter', async () => {
    await make('a red kite', accepted, { accountId: 'rival' });
    const own = await make('a red kite');
    await read();

    expect(await find('red kite')).toEqual([own]);
    expect(await find('red')).toEqual([own]);
    expect(await find('kit', { accountId: 'acme', states: ['queued'] })).toEqual([own]);
    expect(await store.countStep({ accountId: 'acme', prompt: readWantedWords('red') }, 10)).toEqual({
      count: 1,
      isWhole: true,
    });
  });

  test('finds the tasks of every account for an operator', async () => {
    const ids = [await make('a red kite', accepted, { accountId: 'rival' }), await make('red kites')];
    await make('a blue kite');
    await read();

    expect(await find('red kite', { hidden: true })).toEqual(ids.toReversed());
  });

  test('finds no task that its owner removed, and none that no upstream took', async () => {
    const removed = await make('a red kite', completed);
    await store.remove(removed, AT);
    await store.refuse(await make('a red kite', begun), { code: 'x', message: 'y' }, AT);
    await read();

    expect(await find('red kite')).toEqual([]);
  });

  test('keeps no word of a task that its owner removed, before it is read, after, and meanwhile', async () => {
    const before = await make('an amber kite', completed);
    await store.remove(before, AT);
    const after = await make('a black kite', completed);
    await read();
    await store.remove(after, AT);
    const meanwhile = await make('a crimson kite', completed);
    const place = await store.getPromptReading();
    const [found] = await store.listUnreadPrompts([meanwhile]);
    await store.remove(meanwhile, AT);
    const other = await make('a golden kite', completed);
    await store.keepPromptWords(place, { ...place, seenId: other }, [
      { id: meanwhile, accountId: found!.accountId, words: ['crimson', 'kite'] },
      { id: other, accountId: found!.accountId, words: ['golden', 'kite'] },
    ]);

    expect(await sql.read('SELECT word FROM prompt_words ORDER BY word')).toEqual([
      { word: 'golden' },
      { word: 'kite' },
    ]);
    const texts = JSON.stringify(await Promise.all(TABLES.map((table) => sql.read(`SELECT * FROM ${table}`))));
    expect(['amber', 'black', 'crimson', 'golden'].filter((word) => texts.includes(word))).toEqual(['golden']);
  });

  test('is erased from the files once for what owners removed, and again if others were in the way', async () => {
    const answers = [false, true];
    let calls = 0;
    const emptyLog = async (): Promise<boolean> => answers[calls++]!;
    store = sqlTaskStore({ ...sql, emptyLog }, newId, () => ({ type: 'finished', payload: '{}' }));
    await store.eraseRemoved();
    expect(calls).toBe(0);

    for (const prompt of ['an amber kite', 'a black kite']) await store.remove(await make(prompt, completed), AT);
    for (let pass = 0; pass < 3; pass += 1) await store.eraseRemoved();
    expect(calls).toBe(2);
  });

  test('keeps no word and no prompt of a create that was refused, but what the operator needs', async () => {
    const before = await make('an amber kite', begun);
    await store.refuse(before, { code: 'x', message: 'y' }, AT);
    const after = await make('a black kite', begun);
    await read();
    await store.refuse(after, { code: 'x', message: 'y' }, AT);
    await read();

    const texts = JSON.stringify(await Promise.all(TABLES.map((table) => sql.read(`SELECT * FROM ${table}`))));
    expect(['amber', 'black', 'kite'].filter((word) => texts.includes(word))).toEqual([]);
    const { kind, model, duration } = anOrder();
    expect(await store.find(after)).toMatchObject({
      order: { kind, model, duration, content: [] },
      failure: { code: 'x', message: 'y' },
    });
  });

  test('finds by other conditions too', async () => {
    const wanted = await make('a red kite', completed, { tokenId: 'token_2' });
    await make('a red kite', completed);
    await make('a red kite', accepted, { tokenId: 'token_2' });
    await read();

    expect(await find('kite red', { accountId: 'acme', tokenId: 'token_2', states: ['completed'] })).toEqual([wanted]);
  });

  test('reads a task at its end that became visible behind the others', async () => {
    await make('a blue car');
    await read();
    const late = `task_${'0'.repeat(26)}`;
    await completed(store, late, { ...ROOMY, order: anOrder({ content: [{ ...aText(), text: 'a red kite' }] }) });
    await read();

    expect(await find('red kite')).toEqual([late]);
  });

  test('goes on where it was when a pass dies before it has written, and writes nothing twice', async () => {
    await make('a red kite');
    const dying = { ...store, keepPromptWords: () => Promise.reject(new Error('the process dies')) };

    await expect(readPrompts({ ...deps(), store: dying })).rejects.toThrow('dies');
    expect([await rows('prompt_words'), await rows('read_prompts')]).toEqual([0, 0]);

    await read();
    await read();
    expect([await rows('prompt_words'), await rows('read_prompts')]).toEqual([2, 1]);
  });

  test('waits in a busy process, and for half a minute at most', async () => {
    const id = await make('a red kite');
    await clock.advance(27_000);

    expect([await readPrompts(deps(true)), await find('red')]).toEqual([0, []]);

    await clock.advance(1000);
    await readPrompts(deps(true));
    expect(await find('red')).toEqual([id]);
  });

  test('waits for the same time from the end of a task that became visible behind the others', async () => {
    await make('a blue car');
    await read();
    const late = `task_${'0'.repeat(26)}`;
    await completed(store, late, { ...ROOMY, order: anOrder({ content: [{ ...aText(), text: 'a red kite' }] }) });
    await sqlWebhooks(sql, newId).dispatch({ now: clock.now(), limit: 100 });

    await readPrompts({ ...deps(true), clock: fakeClock(AT + 29_999) });
    expect(await find('red')).toEqual([]);

    await readPrompts({ ...deps(true), clock: fakeClock(AT + 30_000) });
    expect(await find('red')).toEqual([late]);
  });

  test('is written by one of two processes that read at once', async () => {
    const id = await make('a red kite');
    const from = await store.getPromptReading();
    const keep = () =>
      store.keepPromptWords(from, { ...from, seenId: id }, [{ id, accountId: 'acme', words: ['red', 'kite'] }]);

    expect((await Promise.all([keep(), keep()])).toSorted()).toEqual([false, true]);
    expect(await rows('prompt_words')).toBe(2);
  });

  test('forgets the words of a task with the task', async () => {
    const gone = await make('a red kite', completed);
    await store.markSettled([gone], AT);
    await make('a blue kite');
    await read();
    await clock.advance(DAY_MS);
    expect(await store.removeFinished({ before: AT + 1, now: clock.now(), limit: 10 })).toBe(1);

    expect(await removeLeftWords(deps(), DAY_MS)).toBe(1);

    expect((await sql.read('SELECT word FROM prompt_words ORDER BY word')).map(({ word }) => word)).toEqual([
      'blue',
      'kite',
    ]);
    expect(await rows('read_prompts')).toBe(1);
  });

  describe('with more tasks than one answer examines', () => {
    const bounds = { examinedMax: 4, unfinishedMax: 2 };
    const walk = async (text: string, ascending: boolean): Promise<readonly string[]> => {
      const steps = sqlListSteps(sql, store, bounds);
      const found: string[] = [];
      let after: string | undefined;
      do {
        const step = await steps.listStep(
          { accountId: 'acme', prompt: readWantedWords(text) },
          { limit: 3, after, ascending },
        );
        found.push(...idsOf(step.tasks));
        after = step.continueAfter;
      } while (after !== undefined);
      return found;
    };

    test.each([
      ['red kite ', (at: number) => at % 3 === 0],
      ['red', () => true],
      ['kit', (at: number) => at % 3 === 0 || at % 4 === 1],
      ['red kit', (at: number) => at % 3 === 0 || at % 4 === 1],
      ['kite kitten ', (at: number) => at % 3 === 0 && at % 4 === 1],
    ])('the steps of "%s" are all that match, in their order', async (text, matches) => {
      const ids: string[] = [];
      for (let at = 0; at < 24; at += 1)
        ids.push(await make(`red ${at % 3 === 0 ? 'kite' : ''} ${at % 4 === 1 ? 'kitten' : ''} ${at}`));
      await read();
      const wanted = ids.filter((_id, at) => matches(at));

      expect(await walk(text, true)).toEqual(wanted);
      expect(await walk(text, false)).toEqual(wanted.toReversed());
    });

    test('a count says that there may be more', async () => {
      for (let at = 0; at < 6; at += 1) await make('a red kite');
      await read();
      const count = (max: number) =>
        sqlListSteps(sql, store, bounds).countStep({ accountId: 'acme', prompt: readWantedWords('red') }, max);

      expect(await count(10)).toEqual({ count: 4, isWhole: false });
      expect(await count(3)).toEqual({ count: 3, isWhole: false });
    });
  });
});
