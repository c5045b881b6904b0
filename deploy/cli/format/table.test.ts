import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { TokenSchema } from '@reelgate/proto/billing/v1/account_service';
import { TokenClass } from '@reelgate/proto/billing/v1/token_queue';
import { asTable, listColumns } from './table.ts';
import type { Column } from './table.ts';

interface Row {
  readonly id: string;
  readonly state: string;
  readonly prompt: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'STATE', of: ({ state }) => state, isWide: true },
  { title: 'PROMPT', of: ({ prompt }) => prompt, shrinks: true },
];
const ROWS: readonly Row[] = [
  { id: 'task_1', state: 'queued', prompt: 'a red boat at dawn, with a very long tail of further words' },
  { id: 'task_22', state: 'failed', prompt: 'two\nlines \u001b[31mand a colour' },
];
const lines = (columns: number | undefined, isWide?: boolean): string[] =>
  asTable(ROWS, COLUMNS, { terminal: { columns }, isWide }).split('\n');

test('a table is at most as wide as the terminal, and the columns that may shrink are cut', () => {
  expect(lines(30)).toEqual(['ID       PROMPT', 'task_1   a red boat at dawn, …', 'task_22  two lines [31mand a …']);
});

test('a table in a pipe is not cut', () => {
  expect(lines(undefined)[1]).toBe(`task_1   ${ROWS[0]!.prompt}`);
});

test('a wide table has every column and is not cut', () => {
  expect(lines(30, true).slice(0, 2)).toEqual(['ID       STATE   PROMPT', `task_1   queued  ${ROWS[0]!.prompt}`]);
});

test('text of a client cannot break a line or send a control sequence to the terminal', () => {
  expect(lines(undefined)[2]).toBe('task_22  two lines [31mand a colour');
});

test('the columns of a table stay readable on a terminal that is too narrow', () => {
  expect(lines(5)[1]).toBe('task_1   a red b…');
});

test('a table without rows is the word none', () => {
  expect(asTable([], COLUMNS, { terminal: { columns: 80 } })).toBe('none');
});

test('a column that names a field of the contract has its title, its words and its amounts', () => {
  const createdAt = timestampFromMs(systemClock.now() - 90_000);
  const token = create(TokenSchema, {
    ...{ accountId: 'demo', usedNanos: 1_500_000_000n, models: ['a', 'b'], createdAt },
    ...{ limits: {}, queue: { class: TokenClass.BATCH } },
  });
  const columns = listColumns(TokenSchema, [
    ...(['accountId', 'usedNanos', 'limitNanos', 'models', 'createdAt', 'queue.class'] as const),
    { field: 'limits.inFlight', title: 'OPEN', isBlankAtZero: true },
  ]);
  const toCells = (isWide: boolean): string[] =>
    columns
      .filter((column) => isWide || column.isWide !== true)
      .map((column) => `${column.title}: ${column.of(token)}`);

  expect(toCells(false)).toEqual([
    ...['ACCOUNT: demo', 'USED: 1.5', 'LIMIT: ', 'MODELS: a,b', 'CREATED: 90s ago', 'CLASS: batch', 'OPEN: '],
  ]);
  expect(toCells(true)).toContainEqual(expect.stringMatching(/^CREATED AT: 20.*Z$/));
});
