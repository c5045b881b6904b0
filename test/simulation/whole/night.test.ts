import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { openFindings } from './keep-findings.ts';
import type { Finding } from './keep-findings.ts';
import { computeEnd } from './run-night.ts';
import { simulateSeeds } from './simulate-seeds.ts';

const ORDERS_LEFT_MAX = 4;
const HOUR_MS = 3_600_000;
const RULE = 'the held amount is that of the open holds';

const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-night-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Splits the words of a printed command, without the program. */
function readWords(command: string): readonly string[] {
  const [, words = ''] = command.split(' -- ');
  return [...words.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
}

// about 20 s: two seeds, and about 20 runs of the shrinking
test('a night keeps a broken rule once, shrunk to few orders, with a command that replays it', async () => {
  const keep = path.join(folder, 'night');

  const night = await simulateSeeds('--night', '--seed', '1', '--seeds', '2', '--bug', 'open-holds', '--keep', keep);

  expect(night.code).toBe(1);
  expect(night.out).toContain('2 worlds');
  const kept = path.join(keep, RULE.replaceAll(' ', '-'));
  const { rule, seeds, command } = JSON.parse(readFileSync(path.join(kept, 'finding.json'), 'utf8')) as Finding;
  expect({ rule, seeds }).toEqual({ rule: RULE, seeds: [1, 2] });
  const [, left] = /runs left (\d+) of \d+ orders/.exec(readFileSync(path.join(kept, 'history.txt'), 'utf8')) ?? [];
  expect(Number(left)).toBeGreaterThanOrEqual(1);
  expect(Number(left)).toBeLessThanOrEqual(ORDERS_LEFT_MAX);
  const replay = await simulateSeeds(...readWords(command));
  expect(replay.code).toBe(1);
  expect(replay.out).toContain(`breaks the rule: ${RULE}`);
});

test('a second seed that breaks a known rule adds its number, also on another night', () => {
  const open = () => openFindings(path.join(folder, 'findings'), { commit: 'abc', node: 'v24' });
  const found = (seed: number) => ({ rule: 'A rule!', detail: `of ${seed}`, command: `--seed ${seed}`, seed });
  const first = open();

  expect(first.keep(found(3))).toBe(path.join(folder, 'findings', 'a-rule-'));
  first.keepHistory('A rule!', 'a history\nreplay: npm run simulate -- --seed 3 --steps 9\n');
  expect(first.keep(found(4))).toBeUndefined();
  const second = open();
  expect(second.keep(found(5))).toBeUndefined();

  expect(second.list()).toEqual([
    {
      ...{ rule: 'A rule!', detail: 'of 3', commit: 'abc', node: 'v24', seeds: [3, 4, 5], count: 3 },
      command: 'npm run simulate -- --seed 3 --steps 9',
    },
  ]);
});

test('a night ends after its hours, or at the next time of day, or never by itself', () => {
  const noon = new Date(2026, 0, 1, 12).getTime();

  expect(computeEnd(noon, { hours: 2, until: undefined })).toBe(noon + 2 * HOUR_MS);
  expect(computeEnd(noon, { hours: undefined, until: 13 * 60 })).toBe(noon + HOUR_MS);
  expect(computeEnd(noon, { hours: undefined, until: 6 * 60 })).toBe(noon + 18 * HOUR_MS);
  expect(computeEnd(noon, { hours: undefined, until: undefined })).toBeUndefined();
});
