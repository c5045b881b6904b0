import { describe, expect, test } from '@jest/globals';
import { LEAST_SHARES, listRareActs } from './acts.ts';
import type { Act, SeedActs } from './acts.ts';
import { FAULTS } from './faults.ts';
import { simulateSeeds } from './simulate-seeds.ts';

const FIRST_SEED = 1000;
/** The shares say something with this many seeds. */
const SEEDS = 40;
const ACCEPTED_PERCENT_LEAST = 60;
/** Of the messages of the log, at least this many appear in forty seeds. */
const MESSAGES_LEAST = 80;
/** Only ends a run that hangs. */
const TIMEOUT_MS = 900_000;

test(
  'each act and fault succeeds in its share of forty seeds, most orders are accepted, and each message has appeared',
  async () => {
    const { code, out } = await simulateSeeds('--seed', String(FIRST_SEED), '--seeds', String(SEEDS), '--messages');

    expect(code).toBe(0);
    expect(out).toContain('every act and fault has happened often enough');
    const [, percent] = /in the middle seed, (\d+) % of the orders are accepted/.exec(out) ?? [];
    expect(Number(percent)).toBeGreaterThanOrEqual(ACCEPTED_PERCENT_LEAST);
    const [, told = ''] = out.split(/^(?=\d+ of \d+ log messages have appeared$)/m);
    expect(told).toMatch(/\neach other log message has its reason\n$/);
    expect(Number.parseInt(told, 10)).toBeGreaterThanOrEqual(MESSAGES_LEAST);
  },
  TIMEOUT_MS,
);

describe('an act', () => {
  const acts = Object.fromEntries(Object.keys(LEAST_SHARES).map((act) => [act, 1])) as Record<Act, number>;
  const whole: SeedActs = { acts, happened: FAULTS };

  test('that has succeeded in its share of the seeds is not rare', () => {
    expect(listRareActs([whole, whole])).toEqual([]);
  });

  test('or a fault that never happened is named with its share', () => {
    const { 'a remix completes': _, ...others } = acts;
    const without: SeedActs = { acts: others, happened: FAULTS.filter((fault) => fault !== 'power cut') };

    expect(listRareActs([without, without])).toEqual([
      'a remix completes: in 0 % of the seeds, must be in 20 %',
      'power cut: in 0 % of the seeds, must be in 10 %',
    ]);
  });
});
