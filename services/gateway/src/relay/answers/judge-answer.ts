import { parseLastObject } from '../../json-bytes/find-objects.ts';
import { findFault, NOTHING_CAME, toMissingFault } from '../protocols/faults.ts';
import type { Fault } from '../protocols/faults.ts';
import type { DeliveryRules } from '../protocols/delivery-rules.ts';
import { findFirstElement, mentionsFault } from '../protocols/mentions.ts';
import type { Usage } from '../../domain/call-usage.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import { readUsage } from './usage-in-bytes.ts';

/** A longer answer that reports usage and mentions no fault need not be parsed. */
const PARSED_BYTES_MAX = 8 * 1024;

export const NOT_JSON: Fault = { ...NOTHING_CAME };

/** The verdict on a whole JSON answer. */
export type AnswerVerdict =
  | { readonly kind: 'delivered' | 'concluded'; readonly usage: Usage | undefined }
  | { readonly kind: 'failed'; readonly fault: Fault };

/** Judges a whole JSON answer: it has the ordered result, the model ended without it, or it is an error. */
export function judgeAnswer(bytes: Buffer, call: RelayCall): AnswerVerdict {
  const { delivery } = call.endpoint.protocol;
  const usage = readUsage(bytes, call);
  const isLong = bytes.length > PARSED_BYTES_MAX && usage !== undefined && !mentionsFault(bytes);
  if (isLong && delivery.isByFirst === true && firstDelivers(bytes, delivery)) return { kind: 'delivered', usage };
  const answer = parseLastObject(bytes);
  if (answer === undefined) {
    // it has more than is parsed
    if (isLong && findFirstElement(bytes, delivery.list) !== undefined) return { kind: 'delivered', usage };
    return { kind: 'failed', fault: findFirstLineFault(bytes, delivery) ?? NOT_JSON };
  }
  const fault = findFault(answer, delivery);
  if (fault !== undefined) return { kind: 'failed', fault };
  if (delivery.delivers(answer)) return { kind: 'delivered', usage };
  return delivery.concludes(answer) ? { kind: 'concluded', usage } : { kind: 'failed', fault: toMissingFault(answer) };
}

function firstDelivers(bytes: Buffer, rules: DeliveryRules): boolean {
  const first = findFirstElement(bytes, rules.list);
  return first !== undefined && rules.delivers({ [rules.list]: [parseLastObject(first)] });
}

/** Finds the fault with which lines of JSON begin. */
function findFirstLineFault(bytes: Buffer, rules: DeliveryRules): Fault | undefined {
  const end = bytes.indexOf('\n');
  const first = end < 0 || end > PARSED_BYTES_MAX ? undefined : parseLastObject(bytes.subarray(0, end));
  return first && findFault(first, rules);
}
