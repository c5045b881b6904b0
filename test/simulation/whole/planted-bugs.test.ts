import { expect, test } from '@jest/globals';
import { findEditFault, readSource } from './plant-bug.ts';
import { FOUND_BUGS, PLANTED_BUGS } from './planted-bugs.ts';
import type { SourceEdit } from './plant-bug.ts';
import { simulateSeeds } from './simulate-seeds.ts';

const SEEDS_MAX = 200;
const BUGS_LEAST = 15;
/** The history of one order that breaks a rule early is short. */
const EVENTS_SHOWN_LEAST = 4;
const EVENTS_SHOWN_MAX = 100;
/** They are found within a few seeds. The others take some minutes together, so a person or a night plants them. */
const CHEAP = ['settled-without-a-check', 'dropped-events', 'overdrawn-accounts', 'stolen-keys', 'open-holds'];

test.each(CHEAP)('%s is found, told as a history, and replayed by the printed command', async (bug) => {
  const { first, seeds, rules } = FOUND_BUGS[bug]!;

  const { code, out } = await simulateSeeds('--seed', String(first), '--seeds', String(seeds), '--bug', bug);

  expect(code).toBe(1);
  const [, seed, rule = ''] = /^seed (\d+) at commit .*, Node .*, breaks the rule: (.*)$/m.exec(out) ?? [];
  expect(rules).toContain(rule);
  expect(out).toContain(`replay: npm run simulate -- --seed ${seed} --bug ${bug}`);
  const events = out.match(/^\d\d:\d\d\.\d{3} {2}\S+ +\S.*$/gm) ?? [];
  expect(events.length).toBeGreaterThan(EVENTS_SHOWN_LEAST);
  expect(events.length).toBeLessThanOrEqual(EVENTS_SHOWN_MAX);
});

test('each planted bug applies: its texts stand in the product exactly once', () => {
  const faults = Object.values(PLANTED_BUGS).flatMap(({ edits }) =>
    edits.flatMap((edit) => findEditFault(edit, readSource(edit)) ?? []),
  );

  expect(faults).toEqual([]);
});

test('at least fifteen bugs are found, each by a named rule and within a stated number of seeds', () => {
  const bugs = Object.entries(FOUND_BUGS);

  expect(bugs.length).toBeGreaterThanOrEqual(BUGS_LEAST);
  const unstated = bugs.filter(([, { seeds, rules }]) => !(seeds >= 1 && seeds <= SEEDS_MAX) || rules.length === 0);
  expect(unstated.map(([name]) => name)).toEqual([]);
});

test.each<[string, string, number]>([
  ['is gone', 'another text', 0],
  ['stands there twice', 'a text and a text', 2],
])('an edit whose text %s is refused', (_what, source, times) => {
  const edit: SourceEdit = { file: 'services/some/file.ts', text: 'a text', becomes: '' };

  expect(findEditFault(edit, source)).toBe(
    `services/some/file.ts: the text stands in it ${times} times, must be once: a text`,
  );
});
