import { expect, test } from '@jest/globals';
import type { EndRoute, ReadRoute } from './dialect.ts';
import { dialects } from './index.ts';

test('the types refuse a read or an end whose path does not name its task {task_id}', () => {
  // @ts-expect-error -- the id has another name
  const read: ReadRoute['path'] = '/v1/videos/{id}';
  // @ts-expect-error -- the id is no segment of its own
  const end: EndRoute['path'] = '/v1/videos{task_id}';

  expect([read, end]).toHaveLength(2);
});

test('no route of a dialect lies under the refusals of another dialect', () => {
  for (const { name, refusals } of dialects)
    for (const other of dialects.filter((one) => one.name !== name))
      for (const { path } of [...other.creates, ...other.reads, ...other.lists, ...other.ends])
        expect([path, path.startsWith(`${refusals?.from ?? '/none'}/`)]).toEqual([path, false]);
});
