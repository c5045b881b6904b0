import { byRows, inChunks, inExactChunks, rowValues, valueRows } from '@reelgate/platform/sql/multi-row';
import { buildInsert, listValues } from '@reelgate/platform/sql/named-values';
import type { NamedValues } from '@reelgate/platform/sql/named-values';
import type { SqlQuery, SqlRunner, SqlStatement, SqlValue } from '@reelgate/platform/sql/sql';
import { runStatements } from '@reelgate/platform/sql/transaction';
import { isBalanced } from '../../domain/ledger.ts';
import type { FinancialEvent } from '../../domain/ledger.ts';
import type { Nanos } from '../../domain/money.ts';

const EVENT_COLUMNS = ['event_key', 'kind', 'account_id', 'task_id', 'reason', 'actor', 'occurred_at'] as const;
const UNLESS_TAKEN = 'ON CONFLICT (event_key) DO NOTHING';
const INSERT_EVENT = buildInsert('financial_events', EVENT_COLUMNS, `${UNLESS_TAKEN} RETURNING event_key`);
const INSERT_NEW_EVENTS = byRows(
  (rows) => `INSERT INTO financial_events (${EVENT_COLUMNS.join(', ')})
  VALUES ${valueRows(rows, EVENT_COLUMNS.length)}`,
);
const INSERT_EVENTS_UNLESS_TAKEN = byRows((rows) => `${INSERT_NEW_EVENTS(rows)} ${UNLESS_TAKEN}`);
const INSERT_EVENTS = byRows((rows) => `${INSERT_EVENTS_UNLESS_TAKEN(rows)} RETURNING event_key`);

type EventRow = NamedValues<(typeof EVENT_COLUMNS)[number]>;

const LINE_COLUMNS = 4;
const INSERT_LINES = byRows(
  (rows) =>
    `INSERT INTO ledger_lines (event_key, book, currency, amount_nanos) VALUES ${valueRows(rows, LINE_COLUMNS)}`,
);

/** The lines of several events. A repeated row is written once. */
const INSERT_LINES_ONCE = byRows((rows) => `${INSERT_LINES(rows)} ON CONFLICT (event_key, book) DO NOTHING`);

/** Writes the events, without their lines. Returns the keys of the new events. */
export async function insertEvents(query: SqlQuery, events: readonly FinancialEvent[]): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  for (const chunk of inChunks(events)) {
    const written = await query<{ event_key: string }>(INSERT_EVENTS(chunk.length), toEventValues(chunk));
    for (const { event_key: key } of written) keys.add(key);
  }
  return keys;
}

/** The same, and gives only the number of those that are new, which SQLite counts in half the time. */
export async function insertEventsToCount({ changes }: SqlRunner, events: readonly FinancialEvent[]): Promise<number> {
  const counts = await Promise.all(
    inChunks(events).map((chunk) => changes(INSERT_EVENTS_UNLESS_TAKEN(chunk.length), toEventValues(chunk))),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Writes the lines of events that are new. */
export async function insertEventLines(query: SqlQuery, events: readonly FinancialEvent[]): Promise<void> {
  await Promise.all(
    inChunks(events.flatMap(toLines)).map((chunk) =>
      query(
        INSERT_LINES_ONCE(chunk.length),
        rowValues([], chunk, (line) => line),
      ),
    ),
  );
}

type Line = readonly [key: string, book: string, currency: string, amount: Nanos];

function toLines({ key, currency, postings }: FinancialEvent): readonly Line[] {
  if (!isBalanced(postings)) throw new Error(`the lines of the event ${key} do not sum to zero`);
  return postings.map(({ book, amount }) => [key, book, currency, amount]);
}

/** Writes the event with its lines. Returns false if its key is taken, and then does not write. */
export async function recordEvent(query: SqlQuery, event: FinancialEvent): Promise<boolean> {
  if (!(await insertEvent(query, event))) return false;
  await insertLines(query, event);
  return true;
}

/** Reports whether an event with this key was written. */
export async function hasEvent(query: SqlQuery, key: string): Promise<boolean> {
  return (await query('SELECT event_key FROM financial_events WHERE event_key = $1', [key])).length > 0;
}

/** Builds the statements that write events under keys of their own, with their lines. A taken key fails them. */
export function buildPostings(events: readonly FinancialEvent[]): readonly SqlStatement[] {
  const lines = events.flatMap(toLines);
  return [
    ...inExactChunks(events).map((chunk): SqlStatement => [INSERT_NEW_EVENTS(chunk.length), toEventValues(chunk)]),
    ...inExactChunks(lines).map((chunk): SqlStatement => [
      INSERT_LINES(chunk.length),
      rowValues([], chunk, (line) => line),
    ]),
  ];
}

/** Writes an event under a key of its own, with its lines. */
export async function postEvent(query: SqlRunner, event: FinancialEvent): Promise<void> {
  await runStatements(query, buildPostings([event]));
}

async function insertEvent(query: SqlQuery, event: FinancialEvent): Promise<boolean> {
  return (await query(...INSERT_EVENT(toEventRow(event)))).length > 0;
}

function toEventRow({ key, kind, accountId, taskId, reason, actor, at }: FinancialEvent): EventRow {
  return { event_key: key, kind, account_id: accountId, task_id: taskId ?? null, reason, actor, occurred_at: at };
}

function toEventValues(events: readonly FinancialEvent[]): SqlValue[] {
  return rowValues([], events, (event) => listValues(EVENT_COLUMNS, toEventRow(event)));
}

async function insertLines(query: SqlQuery, event: FinancialEvent): Promise<void> {
  const lines = toLines(event);
  await query(
    INSERT_LINES(lines.length),
    rowValues([], lines, (line) => line),
  );
}

/** Removes an event that the same transaction wrote, so that no other transaction can have seen it. */
export async function withdrawEvent(query: SqlQuery, key: string): Promise<void> {
  await query('DELETE FROM ledger_lines WHERE event_key = $1', [key]);
  await query('DELETE FROM financial_events WHERE event_key = $1', [key]);
}

/** A release that comes before its hold. */
interface HoldVoid {
  readonly key: string;
  readonly taskId: string;
  readonly actor: string;
  readonly at: number;
}

/** Takes the key of a hold and moves no money. Returns false if the key is taken. */
export async function recordVoid(query: SqlQuery, { key, taskId, actor, at }: HoldVoid): Promise<boolean> {
  const row: EventRow = {
    event_key: key,
    kind: 'void',
    account_id: null,
    task_id: taskId,
    reason: '',
    actor,
    occurred_at: at,
  };
  return (await query(...INSERT_EVENT(row))).length > 0;
}
