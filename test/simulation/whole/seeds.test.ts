import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { KEPT_SEEDS } from './kept-seeds.ts';
import { readOutcomes } from './order-outcomes.ts';
import type { OrderOutcome } from './order-outcomes.ts';
import { simulateSeeds } from './simulate-seeds.ts';
import { showHistory } from './show-history.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-simulation-logs-'));
afterAll(() => rmSync(folder, { recursive: true }));
const CALM_SEED = '6';
const ORDERS_OF_A_CLIENT = 12;
const toEnd = (outcome: OrderOutcome | undefined) => ({
  creates: outcome?.creates,
  works: outcome?.works,
  state: outcome?.state,
});
const logFile = (name: string): string => path.join(folder, `${name}.log`);

test('a seed is one run: in two processes, alone and after another seed, its log is the same to the last byte', async () => {
  const alone = await simulateSeeds('--seed', '10', '--steps', '6000', '--log', logFile('alone'));
  const after = await simulateSeeds('--seed', '9', '--seeds', '2', '--steps', '6000', '--log', logFile('after'));

  expect([alone.code, after.code]).toEqual([0, 0]);
  const log = readFileSync(logFile('alone'), 'utf8');
  expect(log).toContain(' dies: power cut');
  expect(readFileSync(logFile('after'), 'utf8')).toBe(log);
});

test('a seed with several processes on one server is one run too', async () => {
  const runs = await Promise.all(
    ['one', 'other'].map((name) => simulateSeeds('--seed', '4', '--steps', '6000', '--log', logFile(name))),
  );

  expect(runs.map(({ code }) => code)).toEqual([0, 0]);
  const log = readFileSync(logFile('one'), 'utf8');
  const [beforeDeaths = ''] = log.split(' dies: ');
  expect(beforeDeaths.match(/ machine process-\d+ is up$/gm)?.length).toBeGreaterThan(1);
  expect(readFileSync(logFile('other'), 'utf8')).toBe(log);
});

test('seeds with faults and without faults hold every rule', async () => {
  const { code, out } = await simulateSeeds('--seed', '5', '--seeds', '2');

  expect(out.match(/^seed \d+: [1-9]\d* tasks/gm)).toHaveLength(2);
  expect(out).toMatch(/^seed \d+: .* [1-9]\d* crashes/m);
  expect(out).toMatch(/^seed \d+: .* 0 crashes/m);
  expect(code).toBe(0);
});

// the new seeds are a fixed number
test('the kept seeds, and new ones that follow from the commit, hold every rule', async () => {
  const { code, out } = await simulateSeeds('--kept', '--seeds', '2');

  const [, history = ''] = out.split(/^the (?:last events|events of .*):$/m);
  expect(history).toBe('');
  expect(out.match(/^seed \d+: /gm)?.length).toBeGreaterThan(KEPT_SEEDS.length);
  expect(code).toBe(0);
});

test('a run does without the fault and the order that are left out, and keeps the others', async () => {
  const run = ['--seed', '1', '--steps', '2000'];
  const whole = await simulateSeeds(...run, '--log', logFile('whole'));
  const without = await simulateSeeds(...run, '--without', 'slow sync,order-6', '--log', logFile('without'));

  const countOrders = (name: string) => (readFileSync(logFile(name), 'utf8').match(/ order-6 /g) ?? []).length;
  expect(whole.out).toContain(', slow sync,');
  expect(countOrders('whole')).toBeGreaterThan(0);
  expect(without.out).not.toContain('slow sync');
  expect(countOrders('without')).toBe(0);
  expect(without.out).toContain(', failed sync,');
  expect(readFileSync(logFile('without'), 'utf8')).toContain(' order-24 ');
});

test('in a calm seed, the orders of other clients stay as they are without an order', async () => {
  const run = ['--seed', CALM_SEED, '--log'];
  await simulateSeeds(...run, logFile('all-orders'));
  await simulateSeeds(...run, logFile('one-less'), '--without', 'order-5');

  const [whole, shorter] = ['all-orders', 'one-less'].map((name) => readOutcomes(readFileSync(logFile(name), 'utf8')));
  expect(whole?.has('order-5')).toBe(true);
  expect(shorter?.has('order-5')).toBe(false);
  const others = [...(shorter ?? [])].filter(([order]) => Number(order.split('-')[1]) >= ORDERS_OF_A_CLIENT);
  expect(others.length).toBeGreaterThan(50);
  for (const [order, outcome] of others) expect([order, toEnd(outcome)]).toEqual([order, toEnd(whole?.get(order))]);
});

test('a run ends after a number of steps', async () => {
  const { code, out } = await simulateSeeds('--seed', '1', '--steps', '500');

  expect(out).toMatch(/^seed 1: .* 500 steps/m);
  expect(code).toBe(0);
});

test.each<[string, readonly string[], string]>([
  ['a seed that is no number', ['--seed', 'eleven'], 'seed: eleven is no number; expected a whole number'],
  ['no seed', [], 'seed: is missing; expected a whole number'],
  ['a name that means nothing', ['--seed', '1', '--without', 'slow sink'], 'without: slow sink is no name'],
  ['a time that is none', ['--night', '--until', '25:00'], 'until: 25:00 is no time of day; expected HH:MM'],
  ['a bug that is not planted', ['--seed', '1', '--bug', 'none'], 'bug: no planted bug is called none'],
])('%s is refused', async (_what, words, message) => {
  const { code, out } = await simulateSeeds(...words);

  expect(out).toContain(message);
  expect(code).toBe(2);
});

test('a history has the time as minutes and seconds, the process, and a sentence', () => {
  expect(
    showHistory([
      '61007 process-2 info a task ended {"taskId":"task_1","attempt":2}',
      '61007 process-2 error a poll failed {}',
      '0 machine process-1 starts',
    ]),
  ).toEqual([
    '01:01.007  process-2   a task ended (taskId task_1, attempt 2)',
    '01:01.007  process-2   error: a poll failed',
    '00:00.000  machine     process-1 starts',
  ]);
});
