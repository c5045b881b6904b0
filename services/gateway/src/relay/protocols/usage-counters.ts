import type { JsonObject } from '../../json-bytes/find-objects.ts';
import { nameMember, nameUsage } from './usage-words.ts';
import type { Counter, MemberName } from './usage-words.ts';

/** The counters of a usage as they are spelled. What is inside another counter is not decided yet. */
export type Counters = { readonly [name in Counter]?: number };
type CountersDraft = { -readonly [name in Counter]?: number };

/** The members of an answer or an event that are a usage. */
export const USAGE_MEMBERS = ['usage', 'usageMetadata', 'usage_metadata'] as const;
/** The members that have a usage of their own: of Anthropic, OpenAI's responses, Cohere, Groq and Cloudflare. */
const HOLDERS = ['message', 'response', 'delta', 'x_groq', 'result'];
/** The members of Cohere's `meta` that are counters. */
const META_MEMBERS = ['billed_units', 'tokens'];
/** The counters that Ollama and MiniMax write at the top level of the answer. */
export const TOP_MEMBERS = ['prompt_eval_count', 'eval_count', 'total_tokens'];
const CHOICES_MAX = 128;
const DEPTH_MAX = 4;
/** The maximum number of members of one usage that are read. */
const MEMBERS_MAX = 400;
/** The members of a list's element that describe its counters. */
const LABELS = ['modality', 'ttl', 'type'];
const LABEL_CHARACTERS_MAX = 32;
const NAME_CHARACTERS_MAX = 64;
/** Numbers of 64 bits are sent as strings, for example by Google. */
const DIGITS = /^\d{1,16}(\.\d{1,20})?$/;

/**
 * Reads the counters of an answer or an event. Vendors put them in different places, and the first place with counters
 * counts. Returns undefined if there are none.
 */
export function readCounters(holder: JsonObject): Counters | undefined {
  const own = readOwnUsage(holder);
  if (own !== undefined) return own;
  for (const name of HOLDERS) {
    const inner = holder[name];
    const counters = isObject(inner) ? readOwnUsage(inner) : undefined;
    if (counters !== undefined) return counters;
  }
  return (
    readMeta(holder['meta']) ?? readChoices(holder['choices']) ?? readUsageObject(pickMembers(holder, TOP_MEMBERS))
  );
}

function readOwnUsage(holder: JsonObject): Counters | undefined {
  for (const name of USAGE_MEMBERS) {
    const usage = holder[name];
    const counters = isObject(usage) ? readUsageObject(usage) : undefined;
    if (counters !== undefined) return counters;
  }
  return undefined;
}

function readMeta(meta: unknown): Counters | undefined {
  return isObject(meta) ? readUsageObject(pickMembers(meta, META_MEMBERS)) : undefined;
}

function pickMembers(holder: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, holder[name]]));
}

/** Moonshot's streams have the usage in the last choice. */
function readChoices(choices: unknown): Counters | undefined {
  if (!Array.isArray(choices)) return undefined;
  for (const choice of choices.slice(0, CHOICES_MAX)) {
    const counters = isObject(choice) ? readOwnUsage(choice) : undefined;
    if (counters !== undefined) return counters;
  }
  return undefined;
}

/** Adds the counters of an event. They are cumulative, so each keeps its largest value over the events of a stream. */
export function raiseCounters(event: JsonObject, before: Counters | undefined): Counters | undefined {
  const after = readCounters(event);
  if (before === undefined || after === undefined) return before ?? after;
  const merged: CountersDraft = { ...before };
  for (const [name, count] of Object.entries(after) as [Counter, number][]) raise(merged, name, count);
  return merged;
}

/** Adds searches that an answer lists in addition to its usage. */
export function raiseSearches(counters: Counters | undefined, searches: number): Counters | undefined {
  return searches === 0 ? counters : { ...counters, searches: Math.max(counters?.searches ?? 0, searches) };
}

/** The units that a vendor bills, such as Cohere's `billed_units`, replace the units that it counted, and its total. */
function readUsageObject(usage: JsonObject): Counters | undefined {
  const counters = readMembers(usage);
  const billed = usage['billed_units'];
  return isObject(billed) ? { ...counters, total: 0, ...readMembers(billed) } : counters;
}

function readMembers(usage: JsonObject): Counters | undefined {
  const found: CountersDraft = {};
  addMembers(found, usage, { name: nameUsage(), depth: 0, budget: { left: MEMBERS_MAX } });
  return Object.keys(found).length === 0 ? undefined : found;
}

interface Place {
  readonly name: MemberName;
  readonly depth: number;
  readonly budget: { left: number };
}

function addMembers(found: CountersDraft, object: JsonObject, { name: holder, depth, budget }: Place): void {
  for (const own of Object.keys(object)) {
    const value = object[own];
    if (value === null || value === undefined || own.length > NAME_CHARACTERS_MAX) continue;
    budget.left -= 1;
    if (budget.left < 0) return;
    const name = nameMember(holder, own);
    if (typeof value !== 'object') {
      const count = name.counter === undefined ? undefined : readQuantity(value);
      if (count !== undefined && name.counter !== undefined) raise(found, name.counter, count);
    } else if (depth < DEPTH_MAX) {
      const place = { name, depth: depth + 1, budget };
      if (Array.isArray(value)) addElements(found, value, place);
      else addMembers(found, value as JsonObject, place);
    }
  }
}

/** The elements of a list are parts, such as one for each modality, lifetime of a cache or iteration: they add up. */
function addElements(found: CountersDraft, list: readonly unknown[], place: Place): void {
  const sum: CountersDraft = {};
  for (const element of list) {
    if (!isObject(element)) continue;
    const counters: CountersDraft = {};
    addMembers(counters, element, { ...place, name: readLabels(element).reduce(nameMember, place.name) });
    for (const [name, count] of Object.entries(counters) as [Counter, number][])
      sum[name] = Math.min((sum[name] ?? 0) + count, Number.MAX_SAFE_INTEGER);
  }
  for (const [name, count] of Object.entries(sum) as [Counter, number][]) raise(found, name, count);
}

function readLabels(element: JsonObject): readonly string[] {
  return LABELS.map((name) => element[name]).filter(
    (label) => typeof label === 'string' && label.length <= LABEL_CHARACTERS_MAX,
  ) as string[];
}

/** Reads a counter. Returns undefined for other values, such as a negative or an endless number. */
export function readQuantity(value: unknown): number | undefined {
  const number = typeof value === 'string' && DIGITS.test(value) ? Number(value) : value;
  return typeof number === 'number' && number >= 0 && number <= Number.MAX_SAFE_INTEGER ? Math.ceil(number) : undefined;
}

function raise(counters: CountersDraft, name: Counter, count: number): void {
  const before = counters[name];
  if (before === undefined || before < count) counters[name] = count;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
