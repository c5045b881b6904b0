import { readObject, readText } from '../json-fields.ts';

/** An error in the vendor's format. */
export interface BusinessError {
  /** The vendor's error number, if any. */
  readonly code: number | undefined;
  readonly message: string;
}

type FaultClass = 'channel' | 'throttle' | 'content' | 'order';

/** The vendor's error numbers by the fault that they mean (vendor contract §7.2). */
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
 * The error of an answer of any status, in the V2 envelope or as `base_resp`. Error bodies of other shapes count as the
 * vendor's only below status 500: from 500 on they can come from a proxy that has passed the request on.
 */
export function readBusinessError(status: number, body: unknown): BusinessError | undefined {
  const base = readObject(readObject(body)['base_resp']);
  const baseCode = Number(base['status_code'] ?? 0);
  if (baseCode !== 0) return { code: baseCode, message: `${readText(base['status_msg']) ?? 'refused'} (${baseCode})` };
  const error = readObject(readObject(body)['error']);
  if ((status < 400 || status >= 500) && readObject(body)['type'] !== 'error') return undefined;
  if (typeof error['message'] !== 'string') return undefined;
  const number = NUMBER_AT_END.exec(error['message'])?.[1];
  return { code: number === undefined ? undefined : Number(number), message: error['message'] };
}

/**
 * Decides whose fault a refusal is, by the error number, then by the status. An unknown error is the channel's fault.
 */
export function classifyRefusal(status: number, { code }: BusinessError): FaultClass {
  return (code === undefined ? undefined : CLASS_OF[code]) ?? CLASS_OF_STATUS[status] ?? 'channel';
}
