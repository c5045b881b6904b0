import type { Acts } from '../acts.ts';
import type { Orders } from '../orders.ts';
import { PRIVATE_NAMES } from '../simulated-config.ts';
import type { RelayedCalls } from '../relayed-calls.ts';
import type { HttpAnswer, HttpOrder } from '../simulated-http.ts';
import type { UpstreamWorks, Work } from '../upstream-works.ts';
import { openSeenCalls } from './check-calls.ts';
import type { SeenCalls } from './check-calls.ts';
import { checkBooks, checkCharges } from './check-money.ts';
import { checkCalm, checkRest, checkRestSince, isAtRest } from './check-rest.ts';
import { checkTokens } from './check-tokens.ts';
import type { TokenTree } from './check-tokens.ts';
import { checkWorks } from './check-works.ts';
import { openReaders, showRow } from './read-stores.ts';
import type { BreakRule, ExpectNone, Row } from './read-stores.ts';
import { openSeenEvents } from './seen-events.ts';
import type { SeenEvents } from './seen-events.ts';
import { openSeenTasks } from './seen-tasks.ts';
import type { SeenTasks } from './seen-tasks.ts';

/** A rule that a run has broken. */
export interface BrokenRule {
  readonly rule: string;
  readonly detail: string;
}

export interface Rules
  extends Omit<SeenTasks, 'forgetSince'>, Pick<SeenEvents, 'delivered' | 'heard'>, Pick<SeenCalls, 'answeredWhole'> {
  /** An operator was told that the token is revoked. */
  revoked(token: string): void;
  /** `sentAt` is the time at which the client sent the request. */
  answered(order: HttpOrder, answer: HttpAnswer, sentAt: number): void;
  /** The stores are those of a backup again: what became known since its time is forgotten. */
  restored(backedUpAt: number): void;
  /** Reports whether a restore has taken back what the product knew from this time on. */
  isForgotten(at: number): boolean;
  /** A client is about to send an order with a bound below its price. */
  tooDear(order: string): void;
  /** A client is about to send an order whose body never comes whole, or is beyond its bound. */
  neverWhole(order: string): void;
  /** The limit of a token bounds what it and all that it made order from now on. */
  limited(tree: TokenTree): void;
  /** An upstream has taken a relayed call in. */
  called(name: string): void;
  /** The upstream has accepted an order. */
  accepted(work: Work, works: readonly Work[]): void;
  /** A stream has its first place: every event after it will be heard. */
  listens(): void;
  /** The place of the last event that a stream can have. */
  readLastPlace(): string;
  /** Every event of an account was heard, from the first place of the stream up to the given one. */
  checkHeard(accountId: string, upTo: string): void;
  readonly broken: () => BrokenRule | undefined;
  /** The rules that hold at every moment. */
  checkMoment(): void;
  /** A task that began before a time is at rest. For a world that has been healthy since then. */
  checkRest(since: number): void;
  /** Reports whether every task has ended and is settled, or waits for a person, and no delivery is due. */
  isAtRest(isCalm: boolean): boolean;
  /** The rules that hold at the end of a run. */
  checkEnd(works: UpstreamWorks, isCalm: boolean): void;
  readonly break: BreakRule;
  /** The number of tasks, and of those that wait for a person. */
  count(): { readonly tasks: number; readonly waiting: number };
  close(): void;
}

export interface RulesOptions {
  /** The folder of the stores. */
  readonly folder: () => string;
  readonly now: () => number;
  readonly orders: Orders;
  readonly acts: Acts;
  readonly relayed: RelayedCalls;
  /** True if no process has died so far. */
  readonly areAllAlive: () => boolean;
  /** True if several processes answer. */
  readonly hasReplicas: boolean;
}

const HAS_ATTEMPTS = "SELECT name FROM sqlite_schema WHERE name = 'attempts'";
const ATTEMPTS = `SELECT a.task_id FROM attempts a JOIN tasks t ON t.id = a.task_id
  WHERE instr(t.order_json, ?) > 0`;
const LAST_PLACE = 'SELECT MAX(seq) AS seq FROM events';
const EVENTS_BETWEEN = `SELECT id, type, subject_id FROM events
  WHERE account_id = ? AND seq > CAST(? AS INTEGER) AND seq <= CAST(? AS INTEGER)`;
/** A known token is asked about again after ten seconds. A request that was sent before that may still be answered. */
const REVOKED_MS_MAX = 20_000;

/** Of a body that stops, or is beyond its bound. */
export const NEVER_WHOLE = 'an order without a whole body makes no task';

/** Judges a run by the rules of the product's contract: by what clients ordered and saw, by upstreams, and by the stores. */
export function openRules({ folder, now, orders, acts, relayed, areAllAlive, hasReplicas }: RulesOptions): Rules {
  let broken: BrokenRule | undefined;
  const stores = openReaders(folder);
  const { read } = stores;
  const breakRule: BreakRule = (rule, detail) => {
    broken ??= { rule, detail };
  };
  const expectNone: ExpectNone = (rule, rows) => {
    if (rows.length > 0) breakRule(rule, rows.slice(0, 3).map(showRow).join('; '));
  };
  const tasks = openSeenTasks({ breakRule, now, acts, hasReplicas });
  const events = openSeenEvents({ breakRule, now, acts });
  const calls = openSeenCalls({ breakRule, now, acts, relayed, areAllAlive });
  const tooDear = new Set<string>();
  const neverWhole = new Set<string>();
  const revoked = new Map<string, number>();
  const called = new Map<string, number>();
  let lost: LostTime | undefined;
  const isForgotten = (at: number): boolean => lost !== undefined && at > lost.from && at <= lost.to;
  /** The answers that blame the service, not the request. */
  const failures: Row[] = [];
  const trees = new Map<TokenTree, number>();
  let heardFrom: string | undefined;
  /** What is removed after its time still counts. */
  let countedAtEnd: ReturnType<Rules['count']> | undefined;
  const count = (): ReturnType<Rules['count']> => ({
    tasks: read('tasks', "SELECT id FROM tasks WHERE admission <> 'refused'").length,
    waiting: read('tasks', 'SELECT task_id FROM attention WHERE resolved_at IS NULL').length,
  });
  const readLastPlace = (): string => String(read('tasks', LAST_PLACE)[0]?.['seq'] ?? 0);
  return {
    ...tasks,
    answeredWhole: calls.answeredWhole,
    delivered: (delivery) => {
      hidePrivate(`a webhook to ${delivery.url}`, delivery.body, breakRule);
      events.delivered(delivery);
    },
    heard: (body) => {
      hidePrivate('an event stream', body, breakRule);
      events.heard(body);
    },
    revoked: (token) => {
      revoked.set(token, now());
      acts.note('a token is revoked');
    },
    answered: ({ method, path, key }, answer, sentAt) => {
      hidePrivate(`${method} ${path}`, `${answer.text} ${JSON.stringify(answer.headers)}`, breakRule);
      const since = sentAt - (revoked.get(key) ?? Infinity);
      if (answer.status < 300 && since > REVOKED_MS_MAX)
        breakRule('a revoked token is refused', `${method} ${path} is sent ${since} ms after its revocation`);
      if (answer.status >= 500)
        failures.push({ request: `${method} ${path}`, status: answer.status, body: answer.text });
    },
    restored: (backedUpAt) => {
      lost = { from: backedUpAt, to: now() };
      // the readers have the files of before
      stores.close();
      for (const store of [tasks, events, calls]) store.forgetSince(backedUpAt);
      for (const known of [revoked, trees, called]) forgetSince<unknown>(known, backedUpAt);
    },
    isForgotten,
    tooDear: (order) => {
      tooDear.add(order);
    },
    neverWhole: (order) => {
      neverWhole.add(order);
    },
    limited: (tree) => {
      trees.set(tree, now());
    },
    called: (name) => {
      if (called.has(name)) breakRule('a call that must not be repeated is made once', name);
      called.set(name, now());
    },
    accepted: ({ order, account, source }, works) => {
      // an order that no upstream had at the time of a backup is a new one after its restore
      const all = works.filter((work) => work.order === order && !isForgotten(work.createdAt));
      if (all.length > 1)
        breakRule('an order is accepted at most once', `${order}: ${all.map(({ id }) => id).join(', ')}`);
      if (tooDear.has(order)) breakRule('an order above its bound is not submitted', order);
      if (neverWhole.has(order)) breakRule(NEVER_WHOLE, `${order} is submitted`);
      // the process that sent it may be dead by now, and its successor may not have begun
      if (source !== undefined) return;
      if (read('tasks', HAS_ATTEMPTS).length === 0 || read('tasks', ATTEMPTS, `[${order}]`).length === 0)
        breakRule('a submission has a stored attempt', `${order} at ${account}`);
    },
    listens: () => {
      heardFrom = readLastPlace();
    },
    readLastPlace,
    checkHeard: (accountId, upTo) => {
      if (heardFrom === undefined) return;
      const rows = read('tasks', EVENTS_BETWEEN, accountId, heardFrom, upTo);
      expectNone(
        'a stream misses no event',
        rows.filter(({ type, subject_id: id }) => !events.wasHeard(`${String(type)} ${String(id)}`)),
      );
    },
    broken: () => broken,
    break: breakRule,
    checkMoment: () => {
      checkBooks(read, expectNone);
      checkTokens(read, breakRule, [...trees.keys()]);
    },
    checkRest: (since) => {
      checkRestSince(read, expectNone, since);
    },
    isAtRest: (isCalm) => isAtRest(read, { now: now(), isCalm }),
    checkEnd: (works, isCalm) => {
      countedAtEnd = count();
      const money = { read, expectNone, breakRule, orders, works, acts, findOrder: tasks.findOrder };
      checkRest(read, expectNone, breakRule);
      events.checkEnd(read, expectNone, now());
      checkCharges(money);
      calls.checkEnd(read, expectNone);
      checkWorks({ read, works, breakRule, acts, isForgotten });
      if (!isCalm) return;
      checkCalm(read, expectNone);
      expectNone('without faults no request fails', failures);
    },
    count: () => countedAtEnd ?? count(),
    close: stores.close,
  };
}

/** The time between a backup and its restore. */
interface LostTime {
  readonly from: number;
  readonly to: number;
}

/** Removes the keys whose time is later. */
function forgetSince<K>(known: Map<K, number>, since: number): void {
  for (const [key, at] of known) if (at > since) known.delete(key);
}

function hidePrivate(where: string, text: string, breakRule: BreakRule): void {
  const found = PRIVATE_NAMES.find((name) => text.includes(name));
  if (found !== undefined) breakRule('nothing of an upstream is in an answer', `${where}: ${found} in ${text}`);
}
