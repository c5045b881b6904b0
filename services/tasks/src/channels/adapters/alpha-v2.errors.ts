import { objectOf, textOf } from '../json-fields.ts';

/** A refusal in the vendor's own words. */
export interface BusinessError {
  /** The vendor's number, where it gave one. */
  readonly code: number | undefined;
  readonly message: string;
}

type FaultClass = 'channel' | 'throttle' | 'content' | 'order';

/** The vendor's numbers by what they mean for us (vendor contract §7.2). */
const CLASS_OF: Readonly<Record<number, FaultClass>> = {
  1000: 'channel',
  1001: 'channel',
  1024: 'channel',
  1033: 'channel',
  1002: 'throttle',
  1039: 'throttle',
  1041: 'throttle',
  2045: 'throttle',
  1004: 'channel',
  2049: 'channel',
  1008: 'channel',
  2056: 'channel',
  1028: 'channel',
  1030: 'channel',
  2061: 'channel',
  1026: 'content',
  1027: 'content',
  1042: 'order',
  2013: 'order',
};
const CLASS_OF_STATUS: Readonly<Record<number, FaultClass>> = {
  400: 'order',
  413: 'order',
  422: 'content',
  429: 'throttle',
};
const NUMBER_AT_END = /\((\d{3,6})\)\s*$/;

/**
 * The error that an answer carries, in the V2 envelope or as `base_resp`, whatever its status. Error bodies of other shapes are taken
 * for the vendor's only below 500: above, they can come from something between that has passed the request on.
 */
export function businessError(status: number, body: unknown): BusinessError | undefined {
  const base = objectOf(objectOf(body)['base_resp']);
  const baseCode = Number(base['status_code'] ?? 0);
  if (baseCode !== 0)
    return { code: baseCode, message: `${textOf(base['status_msg']) ?? 'refused'} (${String(baseCode)})` };
  const error = objectOf(objectOf(body)['error']);
  if ((status < 400 || status >= 500) && objectOf(body)['type'] !== 'error') return undefined;
  if (typeof error['message'] !== 'string') return undefined;
  const number = NUMBER_AT_END.exec(error['message'])?.[1];
  return { code: number === undefined ? undefined : Number(number), message: error['message'] };
}

/** Whose fault a refusal is: by the number first, then by the status. What is not known is the channel's. */
export function faultOf(status: number, { code }: BusinessError): FaultClass {
  return (code === undefined ? undefined : CLASS_OF[code]) ?? CLASS_OF_STATUS[status] ?? 'channel';
}
