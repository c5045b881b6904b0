import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Row } from './engine/row.ts';
import { runRows } from './engine/run-rows.ts';
import type { Outcome } from './engine/run-rows.ts';
import { ROWS } from './rows/index.ts';
import { startOwnWorlds } from './world/own-worlds.ts';
import type { OwnWorlds } from './world/own-worlds.ts';

const AT_ONCE = 12;
/** For all rows together, because they run in parallel. */
const ROWS_TIMEOUT_MS = 420_000;

let worlds: OwnWorlds;
const outcomes = new Map<Row, Outcome>();

beforeAll(async () => {
  worlds = await startOwnWorlds();
  await runRows(ROWS, worlds, { atOnce: AT_ONCE, ended: (row, outcome) => outcomes.set(row, outcome) });
}, ROWS_TIMEOUT_MS);
afterAll(async () => worlds?.end(), 60_000);

describe.each([...new Set(ROWS.map(({ section }) => section))])('%s', (section) => {
  test.each(ROWS.filter((row) => row.section === section).map((row) => [row.name, row] as const))(
    '%s',
    (_name, row) => {
      expect(outcomes.get(row)).toEqual({ kind: 'passed' });
    },
  );
});

test('each row has a section and a name of its own', () => {
  const titles = ROWS.map(({ section, name }) => `${section}: ${name}`);

  expect(titles.filter((title, at) => titles.indexOf(title) !== at)).toEqual([]);
});
