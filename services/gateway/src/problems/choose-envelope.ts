import { dialects } from '../dialects/index.ts';
import type { EnvelopeName } from './envelopes.ts';

/** The routes without a dialect; a dialect names its own. */
const OTHERS: readonly (readonly [RegExp, EnvelopeName])[] = [
  [/^\/v1\/messages(\/|$)/, 'anthropic'],
  [/^\/v1beta(\/|$)/, 'google'],
  [/^\/mcp(\/|$)/, 'mcp'],
  [/^\/v1\/models\/.+:\w+$/, 'google'],
];

/** Chooses the envelope of a refusal at this path, whether a route has it or not. */
export function chooseEnvelope(path: string): EnvelopeName {
  const { refusals } = dialects.find((dialect) => isFrom(path, dialect.refusals?.from)) ?? {};
  return refusals?.envelope ?? OTHERS.find(([pattern]) => pattern.test(path))?.[1] ?? 'openai';
}

function isFrom(path: string, from: string | undefined): boolean {
  return from !== undefined && (path === from || path.startsWith(`${from}/`));
}
