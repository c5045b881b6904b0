import type { CallContent, JsonObject } from './protocol.ts';
import type { Usage } from '../../domain/call-usage.ts';
import { readList, readObjects, readObject } from './members.ts';
import { readQuantity } from './usage-counters.ts';

/** A shorter body is counted as text. */
const SMALL_BODY_BYTES = 8 * 1024;
const LONG_TEXT = 4096;
/** The maximum number of tokens of one image or audio within a body. */
const INLINE_MEDIUM_TOKENS = 2000;
const BASE64 = /^(data:[\w.+/-]{0,100}(;[\w=.+-]{1,100})*,)?[A-Za-z0-9+/_-]{1024}/;
const DEPTH_MAX = 64;
/** The maximum number of searches that the hold of a call covers, whatever its tools allow. */
const SEARCHES_HELD_MAX = 100;

const NAMES = Object.keys({
  inputTokens: true,
  cachedInputTokens: true,
  outputTokens: true,
  seconds: true,
  images: true,
  characters: true,
  searches: true,
  cacheWriteTokens: true,
  cacheWrite1hTokens: true,
  audioInputTokens: true,
  cachedAudioTokens: true,
  imageInputTokens: true,
  cachedImageTokens: true,
  reasoningTokens: true,
  audioOutputTokens: true,
  imageOutputTokens: true,
} satisfies Record<keyof Usage, true>) as (keyof Usage)[];

/** Reads a number of a request. A number in quotes does not count. */
function pickQuantity(value: unknown): number | undefined {
  return typeof value === 'number' ? readQuantity(value) : undefined;
}

/** Returns the sum of the known quantities, or undefined if none is known. */
export function sumQuantities(...values: readonly unknown[]): number | undefined {
  const known = values.map((value) => pickQuantity(value)).filter((value) => value !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0);
}

/** Returns a usage without its unknown quantities, or undefined if none is known. */
export function toUsage(quantities: { readonly [name in keyof Usage]: Usage[name] | undefined }): Usage | undefined {
  let known: { -readonly [name in keyof Usage]: Usage[name] } | undefined;
  for (const name of NAMES) {
    const quantity = quantities[name];
    if (quantity !== undefined) (known ??= {})[name] = quantity;
  }
  return known;
}

export function addUsage(left: Usage, right: Usage): Usage {
  const sums = NAMES.map((name) => [name, sumQuantities(left[name], right[name])] as const);
  return Object.fromEntries(sums.filter(([, sum]) => sum !== undefined));
}

/** A text has at most as many tokens as bytes. Media within the body have a fixed number of tokens each. */
export function inputTokensMax({ json, bodyBytes }: CallContent): number {
  return bodyBytes <= SMALL_BODY_BYTES ? bodyBytes : textBytes(json, DEPTH_MAX);
}

function textBytes(value: unknown, depth: number): number {
  if (typeof value === 'string')
    return value.length >= LONG_TEXT && BASE64.test(value) ? INLINE_MEDIUM_TOKENS : Buffer.byteLength(value) + 2;
  if (typeof value !== 'object' || value === null || depth === 0) return 8;
  let sum = 2;
  if (Array.isArray(value)) for (const inner of value) sum += textBytes(inner, depth - 1) + 1;
  else for (const [name, inner] of Object.entries(value)) sum += name.length + 4 + textBytes(inner, depth - 1);
  return sum;
}

/** Computes the maximum number of output tokens of all answers together. */
export function outputTokensMax(each: unknown, answers: unknown = 1): { readonly outputTokens?: number } {
  const tokens = pickQuantity(each);
  return tokens === undefined
    ? {}
    : { outputTokens: Math.min(tokens * Math.max(1, pickQuantity(answers) ?? 1), Number.MAX_SAFE_INTEGER) };
}

/** The searches that a hold has room for: as many as the tools of the request allow, and at least one. */
export function searchesMax({ json }: CallContent): number {
  const allowed = readList(json, 'tools').map((tool) => (tool as JsonObject | null)?.['max_uses']);
  return Math.min(Math.max(1, sumQuantities(...allowed) ?? 1), SEARCHES_HELD_MAX);
}

const SEARCH_CALL = 'web_search_call';

/** Counts the searches among the items of a response. OpenAI bills each, but not the pages that were opened after it. */
export function countSearchCalls(response: JsonObject): number {
  return readObjects(response, 'output').filter((item) => {
    const action = readObject(item, 'action')['type'];
    return item['type'] === SEARCH_CALL && (action === undefined || action === 'search');
  }).length;
}

/** Counts the queries of Google's search. Google bills each once, and does not bill empty ones. */
export function countSearchQueries(answer: JsonObject): number {
  const queries = readObjects(answer, 'candidates').flatMap((candidate) =>
    readList(readObject(candidate, 'groundingMetadata'), 'webSearchQueries'),
  );
  return new Set(queries.filter((query) => typeof query === 'string' && query.trim() !== '')).size;
}
