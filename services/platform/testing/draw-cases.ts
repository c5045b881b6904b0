import { createHash } from 'node:crypto';

const SEED = process.env['REELGATE_SEED'] ?? 'none';
const ALL = process.env['REELGATE_ALL_CASES'] === '1';

/**
 * Draws some cases of a table that takes long, in their order. The seed of the run decides which, so that other commits
 * try the others; `REELGATE_ALL_CASES=1` tries all of them. `name` tells the draws of one run apart.
 */
export function drawCases<Case>(name: string, cases: readonly Case[], count: number): readonly Case[] {
  if (ALL || count >= cases.length) return cases;
  const drawn = new Set(
    cases
      .map((_case, index) => ({ index, lot: computeLot(`${name} ${index}`) }))
      .toSorted((a, b) => a.lot.localeCompare(b.lot))
      .slice(0, count)
      .map(({ index }) => index),
  );
  return cases.filter((_case, index) => drawn.has(index));
}

function computeLot(name: string): string {
  return createHash('sha256').update(`${SEED} ${name}`).digest('hex');
}
