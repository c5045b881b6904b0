import { runRow } from './run-row.ts';
import type { Need, Row, Setting } from './row.ts';
import type { World } from '../world/world.ts';

export interface Worlds {
  /** The world of a setting; undefined if it has none. */
  of(setting: Setting): World | undefined;
  has(need: Need): boolean;
}

export type Outcome =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'skipped'; readonly why: string };

/** Runs rows, several at a time, and the last rows after all others. Calls `ended` for each. */
export async function runRows(
  rows: readonly Row[],
  worlds: Worlds,
  { atOnce, ended }: { readonly atOnce: number; readonly ended: (row: Row, outcome: Outcome) => void },
): Promise<void> {
  for (const part of [rows.filter(({ last }) => last !== true), rows.filter(({ last }) => last === true)]) {
    const waiting = part.values();
    const worker = async (): Promise<void> => {
      for (const row of waiting) ended(row, await outcomeOf(row, worlds));
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
  }
}

async function outcomeOf(row: Row, worlds: Worlds): Promise<Outcome> {
  const { needs = [], setting = 'standard' } = row;
  const missing = needs.find((need) => !worlds.has(need));
  if (missing !== undefined) return { kind: 'skipped', why: `it needs the ${missing}` };
  const world = worlds.of(setting);
  if (world === undefined) return { kind: 'skipped', why: `it needs a program with ${setting}` };
  const why = await runRow(row, world);
  return why === undefined ? { kind: 'passed' } : { kind: 'failed', why };
}
