import { dialects } from '../dialects/index.ts';
import type { EnvelopeName } from './envelopes.ts';

/** The synchronous routes; a dialect names its own. */
const RELAYED: readonly (readonly [RegExp, EnvelopeName])[] = [
  [/^\/v1\/messages(\/|$)/, 'anthropic'],
  [/^\/v1beta(\/|$)/, 'google'],
  [/^\/v1\/models\/[^/]+:\w+$/, 'google'],
];

/** Chooses the envelope of a refusal at this path, whether a route has it or not. */
export function chooseEnvelope(path: string): EnvelopeName {
  const { refusals } = dialects.find((dialect) => isFrom(path, dialect.refusals?.from)) ?? {};
  return refusals?.envelope ?? RELAYED.find(([pattern]) => pattern.test(path))?.[1] ?? 'openai';
}

function isFrom(path: string, from: string | undefined): boolean {
  return from !== undefined && (path === from || path.startsWith(`${from}/`));
}
