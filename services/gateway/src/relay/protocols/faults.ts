import type { JsonObject } from '../../json-bytes/find-objects.ts';
import type { DeliveryRules } from './protocol.ts';
import { hasContent, readList, readObject } from './members.ts';

/** An error that an upstream reported in an answer with a good status. */
export interface Fault {
  /** The status that the answer should have had. */
  readonly status: number;
  /** The upstream's error, if it reported one. It can name the upstream. */
  readonly error: JsonObject | undefined;
}

const UNKNOWN_FAULT = 502;
/** An answer that ended properly without the ordered result. */
export const NOTHING_CAME: Fault = { status: UNKNOWN_FAULT, error: undefined };

/** The members in which vendors write the status of an error, or a word for it. */
const STATUS_NAMES = ['code', 'status', 'status_code', 'statusCode', 'http_code', 'type', 'error_code'] as const;
/** The members in which vendors describe an error. */
const MESSAGE_NAMES = ['message', 'msg', 'detail', 'error_msg', 'error_message', 'status_msg', 'errors'] as const;
/** The first row with a matching word decides. */
const STATUS_BY_WORD: readonly (readonly [RegExp, number])[] = [
  [/rate_?limit|limit_?requests|too_?many_?requests|resource_?exhausted|throttl/i, 429],
  [/insufficient_?(quota|credits?|balance|funds)|billing|payment|arrear/i, 402],
  [/authenti|api_?key|unauthorized/i, 401],
  [/permission|forbidden|access_?denied/i, 403],
  [/content_?(policy|filter)|moderation|policy_?violation|safety|blocked|sensitive|data_?inspection/i, 400],
  [/not_?found/i, 404],
  [/invalid|unsupported|malformed|bad_?request|failed_?precondition|out_?of_?range|too_?(long|large|big|small)/i, 400],
  [/context_?length|string_?above/i, 400],
  [/overloaded|unavailable|capacity/i, 503],
  [/time_?out|deadline/i, 504],
];
/** The numbers of MiniMax's `base_resp` that are no fault of the upstream. */
const STATUS_BY_BASE_CODE: Readonly<Record<string, number>> = {
  '1002': 429,
  '1039': 429,
  '1041': 429,
  '2045': 429,
  '1004': 401,
  '2049': 401,
  '1008': 402,
  '2056': 402,
  '1026': 400,
  '1027': 400,
  '2013': 400,
};
/** From this number on a code stands for an error. Vendors write 0 and 200 into good answers. */
const ERROR_NUMBERS_FROM = 400;
const GOOD_WORDS = /^(|ok|success|\d{1,3})$/i;

/** Finds the fault that an answer or an event reports. Returns undefined if it reports none. */
export function findFault(json: JsonObject, rules: DeliveryRules): Fault | undefined {
  const { error, type } = json;
  if (error === true) return toMissingFault(json);
  if (hasContent(error)) return toFault(toError(error), json);
  if (type === 'error') return toFault(json, {});
  const ofResponse = readObject(json, 'response')['error'];
  if (hasContent(ofResponse)) return toFault(toError(ofResponse), {});
  const named = rules.findFault?.(json);
  if (named !== undefined) return toFault(named, {});
  return hasContent(readObject(json, 'base_resp')['status_code']) ? toMissingFault(json) : undefined;
}

/**
 * Finds the fault in an event without any part of the ordered result that has members only an error has: a list of
 * errors, or a code next to a message.
 */
export function findBareFault(json: JsonObject): Fault | undefined {
  const code = json['code'] ?? json['error_code'];
  const isCode =
    typeof code === 'number' ? code >= ERROR_NUMBERS_FROM : typeof code === 'string' && !GOOD_WORDS.test(code);
  const isBare =
    hasContent(json['errors']) || hasContent(json['detail']) || (isCode && readMessage(json) !== undefined);
  return isBare ? toMissingFault(json) : undefined;
}

/**
 * Returns the fault of an answer without any part of the ordered result. It may give the reason in members of its own.
 */
export function toMissingFault(json: JsonObject): Fault {
  const base = readObject(json, 'base_resp');
  const number = base['status_code'];
  const holders = [...(hasContent(number) ? [{ ...base, code: number }] : []), toFirstError(json), json];
  const reporter = holders.find((holder) => readMessage(holder) !== undefined) ?? json;
  const status = STATUS_BY_BASE_CODE[String(number)] ?? toStatus([reporter, json]);
  const [message, { code }] = [readMessage(reporter), reporter];
  return { status, error: message === undefined ? undefined : { ...(hasContent(code) ? { code } : {}), message } };
}

/** An error that is no JSON. */
export function toTextFault(message: string): Fault {
  return { status: UNKNOWN_FAULT, error: { message } };
}

function toFirstError(json: JsonObject): JsonObject {
  const [first] = readList(json, 'errors');
  return first === undefined ? {} : toError(first);
}

function readMessage(holder: JsonObject): string | undefined {
  const message = MESSAGE_NAMES.map((name) => holder[name]).find(hasContent);
  return message === undefined || typeof message === 'string' ? message : JSON.stringify(message);
}

function toError(error: unknown): JsonObject {
  return typeof error === 'object' && error !== null && !Array.isArray(error)
    ? (error as JsonObject)
    : { message: typeof error === 'string' ? error : JSON.stringify(error) };
}

function toFault(error: JsonObject, holder: JsonObject): Fault {
  return { status: toStatus([error, holder]), error: hasContent(error) ? error : undefined };
}

function toStatus(holders: readonly JsonObject[]): number {
  const values = holders.flatMap((holder) => STATUS_NAMES.map((name) => holder[name]));
  const status = values.map(Number).find((value) => Number.isInteger(value) && value >= 400 && value < 600);
  if (status !== undefined) return status;
  const words = values.filter((value) => typeof value === 'string').join(' ');
  return STATUS_BY_WORD.find(([pattern]) => pattern.test(words))?.[1] ?? UNKNOWN_FAULT;
}
