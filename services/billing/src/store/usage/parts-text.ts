import type { ReportedUsage } from '../../domain/hold.ts';
import { TOKEN_PARTS } from '../../domain/token-rates.ts';
import type { TokenParts } from '../../domain/token-rates.ts';

/** The parts of the tokens of a call and its searches, as its upstream reported them. */
export interface ReportedParts {
  readonly parts: TokenParts;
  readonly searches: bigint;
}

/** Formats the parts and searches that are not zero as JSON. Returns null if all are zero. */
export function formatParts({ parts, searches = 0n }: ReportedUsage): string | null {
  const counts: Record<string, string> = searches > 0n ? { searches: String(searches) } : {};
  for (const name of TOKEN_PARTS) {
    const count = parts?.[name] ?? 0n;
    if (count > 0n) counts[name] = String(count);
  }
  return Object.keys(counts).length === 0 ? null : JSON.stringify(counts);
}

export function parseParts(text: string | null): ReportedParts {
  const counts = JSON.parse(text ?? '{}') as Readonly<Record<string, string>>;
  const read = (name: string): bigint => BigInt(counts[name] ?? 0);
  return {
    parts: Object.fromEntries(TOKEN_PARTS.filter((name) => name in counts).map((name) => [name, read(name)])),
    searches: read('searches'),
  };
}
