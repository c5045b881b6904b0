import { dialects } from '../dialects/index.ts';
import type { EnvelopeName } from '../domain/envelope-name.ts';

/** The routes without a dialect, also among the paths of a dialect. A dialect names its own envelope. */
const OTHERS: readonly (readonly [RegExp, EnvelopeName])[] = [
  [/^(\/api)?\/v1\/messages(\/|$)/, 'anthropic'],
  [/^(\/upload)?\/v1(alpha|beta)(\/|$)/, 'google'],
  [/^\/mcp(\/|$)/, 'mcp'],
  [/^\/v1\/models\/.+:\w+$/, 'google'],
];

/** Chooses the envelope of a refusal at this path, whether a route has it or not. */
export function chooseEnvelope(path: string): EnvelopeName {
  const [, other] = OTHERS.find(([pattern]) => pattern.test(path)) ?? [];
  return other ?? dialects.find(({ refusals }) => isFrom(path, refusals?.from))?.refusals?.envelope ?? 'openai';
}

function isFrom(path: string, from: string | undefined): boolean {
  return from !== undefined && (path === from || path.startsWith(`${from}/`));
}
