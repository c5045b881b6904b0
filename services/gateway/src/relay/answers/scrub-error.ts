import { parseAnsweredJson } from '@reelgate/platform/bounded-json';
import { hideVendor, isSpelledByVendor, toPublicCode } from '@reelgate/platform/vendor-traits';
import type { JsonObject } from '../protocols/protocol.ts';
import type { RelayCall } from '../requests/relay-call.ts';

const DEPTH_MAX = 16;
const HIDDEN_NAMES =
  /^((request|trace)_?id|(org(anization)?|project|account)(_id)?|debug_?(info|id)?|stack|upstream|provider(_?name|_?id)?|model_?slug)$/i;
/**
 * Ids in the messages of upstreams, and keys that are quoted in part. Ordinary words and codes with the same beginning
 * have only lower-case letters.
 */
const OWNER_ID = /\b(org|proj|acct)(-|_(?=\w*[\dA-Z]))[\w-]{6,}/;
const REQUEST_ID = /\b(req|user)[-_]([A-Za-z\d]{12,}|(?=\w*[\dA-Z])\w{12,})/;
const API_KEY = /\b(sk|pk|rk|xai|gsk)[-_*][A-Za-z0-9*_.-]{5,}[A-Za-z0-9*]|\bAIza[\w*.-]{6,}/;
const IDS = new RegExp([OWNER_ID, REQUEST_ID, API_KEY].map(({ source }) => source).join('|'), 'g');
/** Ids of objects that an upstream stores. */
const STATE_ID = /\b(resp|rs|msg|fc|fs|ws|ci|ig|cu|mcp[rl]?|conv|cntr|cfile|file)[_-][\da-f]{20,}\b/;
const QUOTED_IDS_MAX = 1000;
const META = /[\\^$.*+?()[\]{}|]/g;
const URL = /\bhttps?:\/\/[^\s"'<>)]*[^\s"'<>).,]/g;
const MASK = '***';
const STAND = 'the upstream';
/** The members that have a code as their value. */
const CODE_NAMES = /^(?:code|type|error_?(?:code|type)|err_?code|__type)$/i;

/** The names in an error that identify its upstream, and the public id of the model. */
export interface Identities {
  readonly upstreamModel: string;
  readonly publicModel: string;
  /** Hosts, keys, the channel's name. */
  readonly hidden: readonly string[];
  /** The ids of the request as the upstream knows them, and as the client sent them. */
  readonly quoted?: ReadonlyMap<string, string> | undefined;
}

/** Names an upstream's ids in errors as the client sent them. */
export function quoteSentIds(identities: Identities, { kept }: RelayCall): Identities {
  return kept === undefined ? identities : { ...identities, quoted: kept.quoted };
}

/**
 * Removes the upstream's identities from an error body. Returns undefined if the body cannot be read as an object or
 * list.
 */
export function scrubError(body: Buffer, identities: Identities): Buffer | undefined {
  let parsed: unknown;
  try {
    parsed = parseAnsweredJson(body);
  } catch {
    return undefined;
  }
  // Google's streams wrap errors in a list
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  return Buffer.from(JSON.stringify(scrub(parsed, identities, DEPTH_MAX)));
}

function scrub(value: unknown, identities: Identities, depth: number): unknown {
  if (typeof value === 'string') return scrubText(value, identities);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return null;
  if (Array.isArray(value)) return value.map((inner) => scrub(inner, identities, depth - 1));
  const members = Object.entries(value as JsonObject).filter(([name]) => !HIDDEN_NAMES.test(name));
  return Object.fromEntries(
    members.map(([name, inner]) => [name, hideCode(name, inner) ?? scrub(inner, identities, depth - 1)]),
  );
}

/** A code in the spelling of one vendor becomes one that all clients know. */
function hideCode(name: string, value: unknown): string | undefined {
  return typeof value === 'string' && CODE_NAMES.test(name) && isSpelledByVendor(value)
    ? toPublicCode(value)
    : undefined;
}

export function scrubText(text: string, { upstreamModel, publicModel, hidden, quoted }: Identities): string {
  const named = upstreamModel === publicModel ? text : text.replaceAll(upstreamModel, publicModel);
  const withoutHidden = hidden.reduce((left, word) => left.replaceAll(word, MASK), named);
  const nameless = hideVendor(withoutHidden.replace(URL, MASK).replace(IDS, MASK), STAND);
  return replaceStateIds(nameless, quoted);
}

/** Replaces the ids of an upstream by those that the client knows. A text that is an id alone stays: it has a place. */
function replaceStateIds(text: string, quoted: ReadonlyMap<string, string> = new Map()): string {
  const sent = [...quoted.keys()]
    .slice(0, QUOTED_IDS_MAX)
    .map((id) => `(?<![\\w-])${id.replace(META, '\\$&')}(?![\\w-])`);
  const ids = new RegExp([...sent, STATE_ID.source].join('|'), 'g');
  return text.replace(ids, (id) => quoted.get(id) ?? (id === text ? id : MASK));
}
