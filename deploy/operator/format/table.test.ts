import { expect, test } from '@jest/globals';
import { asTable } from './table.ts';
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

test('a table on a terminal is no wider than the terminal, and cuts the columns that may shrink', () => {
  expect(lines(30)).toEqual(['ID       PROMPT', 'task_1   a red boat at dawn, …', 'task_22  two lines [31mand a …']);
});

test('a table in a pipe is cut nowhere', () => {
  expect(lines(undefined)[1]).toBe(`task_1   ${ROWS[0]!.prompt}`);
});

test('a wide table has every column, and is cut nowhere', () => {
  expect(lines(30, true).slice(0, 2)).toEqual(['ID       STATE   PROMPT', `task_1   queued  ${ROWS[0]!.prompt}`]);
});

test('text of a client neither breaks a line nor reaches the terminal as a control sequence', () => {
  expect(lines(undefined)[2]).toBe('task_22  two lines [31mand a colour');
});

test('a terminal that is too narrow gets columns that can still be read', () => {
  expect(lines(5)[1]).toBe('task_1   a red b…');
});

test('no rows are said to be none', () => {
  expect(asTable([], COLUMNS, { terminal: { columns: 80 } })).toBe('none');
});
