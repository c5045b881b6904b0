import type { JsonObject } from '../../json-bytes/find-objects.ts';
import type { DeliveryRules } from './delivery-rules.ts';
import { hasContent } from './contents.ts';
import { readObject } from './members.ts';

/** An error that an upstream reported in an answer with a good status. */
export interface Fault {
  /** The status that the answer should have had. */
  readonly status: number;
  /** The upstream's error, if it reported one. It can name the upstream. */
  readonly error: JsonObject | undefined;
}

const UNKNOWN_FAULT = 502;
/** An answer that ended properly without what was ordered. */
export const NOTHING_CAME: Fault = { status: UNKNOWN_FAULT, error: undefined };

/** The members in which vendors write the status of an error, or a word for it. */
const STATUS_NAMES = ['code', 'status', 'status_code', 'statusCode', 'http_code', 'type'] as const;
/** The first row with a matching word decides. */
const STATUS_BY_WORD: readonly (readonly [RegExp, number])[] = [
  [/rate_?limit|too_many_requests|resource_exhausted|throttl/i, 429],
  [/insufficient_(quota|credits?|balance|funds)|billing|payment/i, 402],
  [/authenti|api_key|unauthorized/i, 401],
  [/permission|forbidden|access_denied/i, 403],
  [/content_(policy|filter)|moderation|policy_violation|safety|blocked|sensitive/i, 400],
  [/not_found/i, 404],
  [/invalid|unsupported|malformed|bad_request|failed_precondition|out_of_range|too_(long|large|big|small)/i, 400],
  [/context_length|string_above/i, 400],
  [/overloaded|unavailable|capacity/i, 503],
  [/time_?out|deadline/i, 504],
];

/** Finds the fault that an answer or an event reports; undefined: it reports none. */
export function findFault(json: JsonObject, rules: DeliveryRules): Fault | undefined {
  const { error, type } = json;
  if (hasContent(error)) return toFault(toError(error), json);
  if (type === 'error') return toFault(json, {});
  const ofResponse = readObject(json, 'response')['error'];
  if (hasContent(ofResponse)) return toFault(toError(ofResponse), {});
  const named = rules.findFault?.(json);
  return named === undefined ? undefined : toFault(named, {});
}

/** The fault of an answer in which nothing of what was ordered was found; it may say why in members of its own. */
export function toMissingFault(json: JsonObject): Fault {
  const message = [json['message'], json['detail'], json['msg'], json['error_msg'], json['errors']].find(hasContent);
  return message === undefined
    ? NOTHING_CAME
    : {
        status: toStatus([json]),
        error: { message: typeof message === 'string' ? message : JSON.stringify(message) },
      };
}

/** An error that is no JSON. */
export function toTextFault(message: string): Fault {
  return { status: UNKNOWN_FAULT, error: { message } };
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
