import type { BreakRule, ReadStore } from './read-stores.ts';

/** A token with a limit, and all tokens that it made, directly or through others. */
export interface TokenTree {
  readonly name: string;
  readonly tokenIds: readonly string[];
  /** What its maker gave as the limit, in billionths. */
  readonly limitNanos: bigint;
}

/** A charge above its hold is no new order, so only the held part of it counts. */
const HELD_BY_TOKEN = `SELECT token_id, SUM(CASE state WHEN 'open' THEN amount_nanos
  WHEN 'void' THEN 0 ELSE MIN(COALESCE(charged_nanos, 0), amount_nanos) END) AS nanos
  FROM holds GROUP BY token_id`;

/** The limit of a maker bounds what it and all that it made have ordered together. */
export function checkTokens(read: ReadStore, breakRule: BreakRule, trees: readonly TokenTree[]): void {
  if (trees.length === 0) return;
  const held = new Map(
    read('billing', HELD_BY_TOKEN).map((row) => [String(row['token_id']), BigInt(row['nanos'] ?? 0)]),
  );
  for (const { name, tokenIds, limitNanos } of trees) {
    const sum = tokenIds.reduce((total, id) => total + (held.get(id) ?? 0n), 0n);
    if (sum > limitNanos)
      breakRule('the limit of a maker bounds its tree', `${name} holds ${sum} of ${limitNanos} billionths`);
  }
}
