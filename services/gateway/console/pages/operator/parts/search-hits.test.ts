import { describe, expect, test } from '@jest/globals';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { SearchView } from '../search.tsx';
import { findOnlyPage, listHits, toSearchCalls } from './search-hits.ts';
import type { SearchAnswers } from './search-hits.ts';

const TOKEN = 'token_01ktest000000000000000000a';
const nameCalls = (value: string): readonly string[] => Object.keys(toSearchCalls(value));

// answers as the gateway sends them; a page reads only a few of their members
const found = (...works: readonly object[]) => ({ tasks: { found: works } }) as unknown as SearchAnswers;
const tokens = (...ids: readonly string[]) =>
  ({ tokens: { tokens: ids.map((id) => ({ id, accountId: 'demo' })) } }) as unknown as SearchAnswers;
const accounts = (...ids: readonly string[]) =>
  ({
    accounts: { accounts: ids.map((id) => ({ id, createdAt: '2026-11-01T00:00:00Z' })) },
  }) as unknown as SearchAnswers;

describe('a search asks', () => {
  test.each([
    ['task_17', ['tasks', 'accounts', 'channels']],
    ['red kite', ['tasks', 'accounts', 'channels', 'words']],
    ['früh', ['tasks', 'accounts', 'channels', 'words']],
    [TOKEN, ['tasks', 'accounts', 'tokens', 'channels']],
    ['token_17', ['tasks', 'accounts', 'channels']],
    ['a1b23', ['tasks', 'accounts', 'channels']],
  ])('for %j only places that can have it', (value, places) => {
    expect(nameCalls(value)).toEqual(places);
  });

  test.each(['a1b2', '…a1b2', '...a1b2'])('for a token by the end of its key: %j', (value) => {
    expect(toSearchCalls(value).tokens?.request).toEqual({ hint: 'a1b2' });
  });

  test('for a token by its whole id', () => {
    expect(toSearchCalls(TOKEN).tokens?.request).toEqual({ id: TOKEN });
  });
});

describe('a search finds', () => {
  test('the one task that has an upstream id, and leads to it', () => {
    const work = { id: 'task_1', accountId: 'demo', model: 'Alpha-H3', createdAt: '1970-01-01T00:00:00.007Z' };
    const hits = listHits('up-17', found({ ...work, foundBy: 'upstream_id' }), []);

    expect(hits).toEqual([{ ...work, kind: 'task', by: 'upstream_id', href: '/console/tasks/task_1', createdAt: 7 }]);
    expect(findOnlyPage(hits)).toBe('/console/tasks/task_1');
  });

  test('a task and a job, and leads to neither', () => {
    const of = { foundBy: 'request_id' };
    const hits = listHits('req-of-client', found({ id: 'task_1', ...of }, { id: 'job_1', isJob: true, ...of }), []);

    expect(hits).toMatchObject([{ href: '/console/tasks/task_1' }, { href: '/console/jobs/job_1' }]);
    expect(findOnlyPage(hits)).toBeUndefined();
  });

  test('words and the beginning of an account, which lead nowhere', () => {
    const words = { words: { records: [{ task: { id: 'task_1', accountId: 'demo' } }] } } as unknown as SearchAnswers;
    const hits = listHits('kite', { ...accounts('kite-makers'), ...words }, []);

    expect(hits).toMatchObject([
      { kind: 'account', by: 'prefix', href: '/console/accounts/kite-makers' },
      { kind: 'task', by: 'words', href: '/console/tasks/task_1' },
    ]);
    expect(findOnlyPage(hits)).toBeUndefined();
  });

  test('an account whose id it is, and leads to it beside those that only begin so', () => {
    expect(findOnlyPage(listHits('kite', accounts('kite', 'kite-makers'), []))).toBe('/console/accounts/kite');
  });

  test.each([
    ['a1b2', 'hint'],
    [TOKEN, 'id'],
  ])('the token of %j by its %s, and leads to its place on the page of its account', (value, by) => {
    const hits = listHits(value, tokens(TOKEN), []);

    expect(hits).toMatchObject([{ kind: 'token', id: TOKEN, by, accountId: 'demo' }]);
    expect(findOnlyPage(hits)).toBe(`/console/accounts/demo#${TOKEN}`);
  });

  test('a channel of tasks, and one that the gateway calls itself', () => {
    const channels = { channels: { channels: [{ id: 'east' }] } } as unknown as SearchAnswers;

    expect(findOnlyPage(listHits('east', channels, ['chat-a']))).toBe('/console/channels/east');
    expect(findOnlyPage(listHits('chat-a', channels, ['chat-a']))).toBe('/console/channels/chat-a');
    expect(listHits('west', channels, ['chat-a'])).toEqual([]);
  });
});

describe('the page of a search', () => {
  test('names the places that could not be searched beside what was found', () => {
    const hits = listHits('kite', accounts('kite'), []);
    const shown = renderToString(h(SearchView, { hits, value: 'kite', unread: ['tasks', 'words'] }));

    expect(shown).toContain('Could not be searched now: tasks, words.');
    expect(shown).toContain('href="/console/accounts/kite"');
  });

  test('says that nothing was found, and how to search', () => {
    expect(renderToString(h(SearchView, { hits: [], value: 'up-17', unread: [] }))).toContain(
      'Nothing was found for “up-17”.',
    );
  });
});
