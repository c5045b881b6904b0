import { expect, test } from '@jest/globals';
import type { Fault } from './faults.ts';
import { openEventLog } from './event-log.ts';
import type { SeedResult } from './run-seed.ts';
import { shrinkRun } from './shrink-run.ts';

const RULE = 'an order is accepted at most once';
const ORDERS = Array.from({ length: 72 }, (_none, at) => `order-${at}`);
const ACTS = ['operator pause', 'operator reload 1', 'call-0', 'stream'];
const FAULTS: readonly Fault[] = ['slow sync', 'no answer', 'clock jump', 'power cut'];
const CRASHES = ['crash 1', 'crash 2', 'crash 3'];
/** The sum of the budgets of all kinds. */
const RUNS_MAX = 80;

const resultOf = (rule: string | undefined): SeedResult => ({
  ...{ seed: 1, faults: FAULTS, broken: rule === undefined ? undefined : { rule, detail: 'order-7: two works' } },
  ...{ tasks: 0, waiting: 0, works: 0, crashes: 0, crashNames: CRASHES, steps: 1000, checkedAt: 0, virtualMs: 0 },
  ...{ accepted: 0, acts: {}, messages: new Set<string>(), happened: [] },
  events: openEventLog(0),
});

/** A made-up run breaks a rule if it has each of these names. */
const shrink = async (breaks: (without: ReadonlySet<string>) => string | undefined, named: readonly string[] = []) => {
  const kinds: string[] = [];
  const { without, runs } = await shrinkRun({
    ...{ first: resultOf(RULE), without: new Set<string>(), orders: ORDERS, acts: ACTS },
    nameOrders: () => named,
    run: async (tried) => resultOf(breaks(tried)),
    onRun: ({ kind }) => kinds.push(kind),
  });
  const left = [...ORDERS, ...FAULTS, ...CRASHES, ...ACTS].filter((name) => !without.has(name));
  return { left, runs, kinds };
};
const needs =
  (...names: readonly string[]) =>
  (without: ReadonlySet<string>) =>
    names.some((name) => without.has(name)) ? undefined : RULE;

test('one order and one fault that a rule needs are left, within the bound of runs', async () => {
  const { left, runs } = await shrink(needs('order-41', 'no answer'));

  expect(left).toEqual(['order-41', 'no answer']);
  expect(runs).toBeLessThan(RUNS_MAX);
});

test('two orders of different clients, a crash and an act are found too', async () => {
  const { left, runs } = await shrink(needs('order-3', 'order-65', 'crash 2', 'operator reload 1'));

  expect(left).toEqual(['order-3', 'order-65', 'crash 2', 'operator reload 1']);
  expect(runs).toBeLessThanOrEqual(RUNS_MAX);
});

test('the orders that the broken rule names are tried alone first', async () => {
  const { left, kinds } = await shrink(needs('order-7'), ['order-7']);

  expect(left).toEqual(['order-7']);
  // without any order, then with the named one
  expect(kinds.filter((kind) => kind === 'orders')).toHaveLength(2);
});

test('orders are left out before faults, crashes and acts', async () => {
  const { kinds } = await shrink(needs('order-41', 'no answer', 'crash 2', 'stream'));

  expect([...new Set(kinds)]).toEqual(['orders', 'faults', 'crashes', 'acts']);
});

test('a kind whose names cannot be left out does not take the runs of the others', async () => {
  const { left, runs } = await shrink((without) => (ORDERS.some((order) => without.has(order)) ? undefined : RULE));

  expect(left).toEqual(ORDERS);
  expect(runs).toBeLessThanOrEqual(RUNS_MAX);
});

test('a shorter run that breaks another rule does not count', async () => {
  const { left } = await shrink((without) => (without.has('order-41') ? 'no task is lost' : RULE));

  expect(left).toEqual(['order-41']);
});
