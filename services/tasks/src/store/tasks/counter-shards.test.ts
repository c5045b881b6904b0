import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { deal, scopeOfRow, shardRow, permitChooser } from './counter-shards.ts';
import type { CounterRows, Permit } from './counter-shards.ts';

const inFlight = ({ count, shards }: CounterRows): number =>
  shards.reduce((sum, shard) => sum + shard.count - shard.permits, count);
const free = (rows: CounterRows): number => rows.shards.reduce((sum, { count, permits }) => sum + permits - count, 0);

/** A counter with any number of wanted shards, left-over ones of other numbers, and any limit. */
const counters: fc.Arbitrary<{ readonly rows: CounterRows; readonly permit: Permit }> = fc
  .record({
    wanted: fc.integer({ min: 2, max: 8 }),
    spread: fc.boolean(),
    home: fc.nat({ max: 7 }),
    limit: fc.integer({ min: 1, max: 60 }),
    count: fc.integer({ min: 1, max: 5 }),
    counted: fc.nat({ max: 20 }),
    shards: fc.array(fc.tuple(fc.nat({ max: 8 }), fc.nat({ max: 8 })), { minLength: 8, maxLength: 12 }),
  })
  .map(({ wanted, spread, home, limit, count: taken, counted, shards }) => {
    const all = shards.map(([count, more], index) => ({
      row: shardRow('total', index),
      count,
      permits: count + more,
    }));
    const rows = Array.from({ length: wanted }, (_, index) => shardRow('total', index));
    return {
      rows: { count: all.reduce((sum, { permits }) => sum + permits, counted), shards: all },
      permit: spread
        ? { scope: 'total', limit, count: taken, row: rows[home % wanted]!, shards: rows }
        : { scope: 'total', limit, count: taken, row: 'total', shards: [] },
    };
  });

describe('a deal', () => {
  test('takes all permits or none, within the limit, and deals out no permit above the limit', () => {
    fc.assert(
      fc.property(counters, ({ rows, permit }) => {
        const before = inFlight(rows);
        const dealt = deal(rows, permit);

        expect(dealt === undefined).toBe(before + permit.count > permit.limit);
        if (dealt === undefined) return;
        expect(inFlight(dealt)).toBe(before + permit.count);
        expect(dealt.count).toBeLessThanOrEqual(permit.limit);
        for (const { count, permits } of dealt.shards) expect(permits).toBeGreaterThanOrEqual(count);
      }),
    );
  });

  test('leaves half of what is free with the counter, and nothing in a shard that is no longer used', () => {
    fc.assert(
      fc.property(counters, ({ rows, permit }) => {
        const dealt = deal(rows, permit);
        if (dealt === undefined) return;

        const left = permit.limit - inFlight(dealt);
        expect(free(dealt)).toBe(permit.shards.length === 0 ? 0 : Math.floor(left / 2));
        for (const { row, count, permits } of dealt.shards)
          if (!permit.shards.includes(row)) expect(permits).toBe(count);
      }),
    );
  });

  test('is even: no two shards get shares that differ by more than one', () => {
    fc.assert(
      fc.property(counters, ({ rows, permit }) => {
        const shares = (deal(rows, permit)?.shards ?? [])
          .filter(({ row }) => permit.shards.includes(row))
          .map(({ count, permits }) => permits - count);
        expect(shares.length === 0 || Math.max(...shares) - Math.min(...shares) <= 1).toBe(true);
      }),
    );
  });
});

describe('the permits of a task', () => {
  const rowsOf = (limit: number, shardsMax: number): string[] => {
    const choose = permitChooser(shardsMax);
    return Array.from({ length: 12 }, () => choose('task_1', [{ scope: 'total', limit, count: 1 }])[0]!.row);
  };

  test.each<[string, number, number, number]>([
    ['a small limit', 63, 32, 1],
    ['a limit for two shards', 64, 32, 2],
    ['a limit for three shards', 100, 32, 3],
    ['a large limit', 2 ** 31 - 1, 8, 8],
    ['an engine without shards', 1000, 1, 1],
  ])('with %s (%d, of %d) go to %d rows in turn', (_what, limit, shardsMax, rows) => {
    const chosen = rowsOf(limit, shardsMax);

    expect(new Set(chosen).size).toBe(rows);
    expect(chosen.slice(rows)).toEqual(chosen.slice(0, -rows));
  });

  test.each(['total', 'token:token_1', 'channel:shard:1:x', 'jobs:token:a\nb'])(
    'in a shard of %j belong to that counter',
    (scope) => {
      expect(scopeOfRow(shardRow(scope, 17))).toBe(scope);
      expect(scopeOfRow(scope)).toBe(scope);
    },
  );
});
