import { expect, test } from '@jest/globals';
import { PLANTED_BUGS } from './planted-bugs.ts';
import { simulateSeeds } from './simulate-seeds.ts';

/** A run that breaks a rule early has fewer events than are shown. */
const EVENTS_SHOWN_LEAST = 20;
const EVENTS_SHOWN_MAX = 100;

interface Finding {
  readonly bug: string;
  readonly first: number;
  /** It is found within this number of seeds from the first one on. */
  readonly seeds: number;
  /** Any of these rules finds it. */
  readonly rules: readonly string[];
}

const FINDINGS: readonly Finding[] = [
  { bug: 'unsynced-commits', first: 1, seeds: 3, rules: ['a submission has a stored attempt', 'no task is lost'] },
  // the sweep repairs it, so only the bound on time of a seed without faults shows it
  { bug: 'dropped-events', first: 6, seeds: 1, rules: ['without faults a task is settled within 3000 ms of its end'] },
  {
    bug: 'lost-answer-is-refusal',
    first: 1,
    seeds: 3,
    rules: ['an order is accepted at most once', 'every accepted work belongs to one task'],
  },
  { bug: 'forgotten-keys', first: 1, seeds: 2, rules: ['an order is accepted at most once', 'a key makes one task'] },
  { bug: 'open-holds', first: 1, seeds: 2, rules: ['the held amount is that of the open holds'] },
];

test.each(FINDINGS)('$bug is found within $seeds seeds from $first on', async ({ bug, first, seeds, rules }) => {
  const { code, out } = await simulateSeeds('--seed', String(first), '--seeds', String(seeds), '--bug', bug);

  expect(code).toBe(1);
  const [, seed, rule = ''] = /^seed (\d+) at commit .*, Node .*, breaks the rule: (.*)$/m.exec(out) ?? [];
  expect(rules).toContain(rule);
  expect(out).toContain(`replay: npm run simulate -- --seed ${seed} --bug ${bug}`);
  const events = out.match(/^\d+ \S+ .*$/gm) ?? [];
  expect(events.length).toBeGreaterThan(EVENTS_SHOWN_LEAST);
  expect(events.length).toBeLessThanOrEqual(EVENTS_SHOWN_MAX);
});

test('each planted bug has a test', () => {
  expect(FINDINGS.map(({ bug }) => bug).sort()).toEqual(Object.keys(PLANTED_BUGS).sort());
});
