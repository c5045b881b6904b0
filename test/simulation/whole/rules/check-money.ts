import type { Acts } from '../acts.ts';
import type { Orders, PossiblePrice } from '../orders.ts';
import type { UpstreamWorks, Work } from '../upstream-works.ts';
import { WAITS } from './check-rest.ts';
import type { BreakRule, ExpectNone, ReadStore, Row } from './read-stores.ts';

export interface MoneyParts {
  readonly read: ReadStore;
  readonly expectNone: ExpectNone;
  readonly breakRule: BreakRule;
  readonly orders: Orders;
  readonly works: UpstreamWorks;
  readonly acts: Acts;
  /** The order of a task that its client was told of. */
  readonly findOrder: (taskId: string) => string | undefined;
}

const UNBALANCED = 'SELECT event_key FROM ledger_lines GROUP BY event_key HAVING SUM(amount_nanos) <> 0';
const HELD = `SELECT a.id, a.held_nanos FROM accounts a WHERE a.held_nanos <>
  (SELECT COALESCE(SUM(h.amount_nanos), 0) FROM holds h WHERE h.account_id = a.id AND h.state = 'open') +
  (SELECT COALESCE(SUM(c.amount_nanos), 0) FROM calls c WHERE c.account_id = a.id AND c.ended_at IS NULL)`;
/** Holds come out of what is there. Only a charge above its hold may take more. */
const OVERDRAWN = `SELECT id, balance_nanos, held_nanos FROM accounts
  WHERE held_nanos > 0 AND balance_nanos - held_nanos < 0
    AND NOT EXISTS (SELECT 1 FROM holds h WHERE h.account_id = accounts.id AND h.charged_nanos > h.amount_nanos)`;
const ENDED_TWICE = `SELECT task_id FROM financial_events WHERE kind IN ('settle', 'release')
  GROUP BY task_id HAVING COUNT(*) > 1`;
const TASKS = `SELECT t.id, t.state, t.settled_at, t.order_json, t.upstream_account, t.upstream_id, ${WAITS} AS waits
  FROM tasks t`;
const MARK = /\[(order-\d+)\]/;
/** Usage that comes to more than this many times its hold waits for a person. */
const OVERRUN_FACTOR = 10n;

/** The rules about money that hold at every moment. */
export function checkBooks(read: ReadStore, expectNone: ExpectNone): void {
  expectNone('the lines of an event sum to zero', read('billing', UNBALANCED));
  expectNone('the held amount is that of the open holds', read('billing', HELD));
  expectNone('a hold ends once', read('billing', ENDED_TWICE));
  expectNone('no account is overdrawn', read('billing', OVERDRAWN));
}

/** Judges every charge at the end of a run, by what its client ordered and what its upstream reported. */
export function checkCharges(parts: MoneyParts): void {
  const { read, expectNone } = parts;
  const holds = new Map(read('billing', 'SELECT * FROM holds').map((hold) => [String(hold['task_id']), hold]));
  const tasks = read('tasks', TASKS);
  const known = new Set(tasks.map(({ id }) => String(id)));
  expectNone(
    'a hold has its task',
    [...holds.values()].filter(({ task_id: id }) => !known.has(String(id))),
  );
  expectNone(
    'no hold stays open after the end of its task',
    tasks.filter(
      ({ id, settled_at: at, waits }) => at !== null && waits === 0 && holds.get(String(id))?.['state'] === 'open',
    ),
  );
  expectNone(
    'a failed task is charged nothing',
    tasks.filter(({ id, state }) => state === 'failed' && Number(holds.get(String(id))?.['charged_nanos'] ?? 0) !== 0),
  );
  for (const task of tasks)
    if (task['state'] === 'completed' && task['settled_at'] !== null)
      checkCharge(parts, task, holds.get(String(task['id'])));
}

/** A completed task is charged the price of its order for what its upstream reports, at most the bound of its client. */
function checkCharge(parts: MoneyParts, task: Row, hold: Row | undefined): void {
  const { breakRule, orders, works, acts } = parts;
  const order = findOrderName(parts, task);
  const video = order === undefined ? undefined : orders.find(order);
  if (order === undefined || video === undefined) return;
  const work = works
    .all()
    .find(({ account, id }) => account === task['upstream_account'] && id === task['upstream_id']);
  const orderedSeconds = video.seconds + video.inputSeconds;
  const prices = orders.listPrices(order, work?.usedSeconds ?? orderedSeconds);
  const held = orders.listPrices(order, orderedSeconds);
  const isFarAbove = (price: PossiblePrice): boolean[] => held.map(({ nanos }) => price.nanos > OVERRUN_FACTOR * nanos);
  const name = `${String(task['id'])} of ${order}`;
  const charged = hold?.['charged_nanos'] ?? null;
  if (charged === null) {
    if (prices.flatMap(isFarAbove).includes(true) && task['waits'] === 1)
      acts.note('usage far above the order waits for a person');
    else breakRule('a completed task is charged', name);
    return;
  }
  if (!prices.flatMap(isFarAbove).includes(false))
    breakRule('usage far above an order is charged only by a person', name);
  checkAmount(parts, { name, charged: BigInt(charged), prices, maxNanos: video.maxNanos });
  noteUsage(parts, work, orderedSeconds);
  if (String(hold?.['price_key']).endsWith('__batch')) acts.note('an order is charged the price of its class');
}

interface ChargedOrder {
  readonly name: string;
  readonly charged: bigint;
  readonly prices: readonly PossiblePrice[];
  readonly maxNanos: bigint | undefined;
}

function checkAmount({ breakRule, acts }: MoneyParts, { name, charged, prices, maxNanos }: ChargedOrder): void {
  const bounded = prices.map(({ nanos, isChanged }) => ({
    nanos: maxNanos !== undefined && maxNanos < nanos ? maxNanos : nanos,
    isChanged,
  }));
  const fitting = bounded.filter(({ nanos }) => nanos === charged);
  if (fitting.length === 0) {
    const expected = bounded.map(({ nanos }) => nanos).join(' or ');
    breakRule(
      'a completed task is charged the price of its order',
      `${name} is charged ${charged}, must be ${expected}`,
    );
  } else if (fitting.every(({ isChanged }) => isChanged)) acts.note('an order is charged a changed price');
}

function noteUsage({ acts }: MoneyParts, work: Work | undefined, ordered: number): void {
  if (work?.usedSeconds === undefined) return;
  if (work.usedSeconds < ordered) acts.note('usage is below the order');
  if (work.usedSeconds > ordered) acts.note('usage is above the order');
}

/** The name of the order of a task: as its client knows it, or by its prompt, which a client that left may never see. */
function findOrderName({ findOrder }: MoneyParts, { id, order_json: order }: Row): string | undefined {
  return findOrder(String(id)) ?? MARK.exec(String(order))?.[1];
}
