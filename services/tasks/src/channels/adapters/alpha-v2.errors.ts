import type { ApiError, ErrorTable } from '@reelgate/adapter-kit/kit';
import { readObject, readText } from '@reelgate/adapter-kit/kit';

/** The vendor's error numbers by the fault that they mean (vendor contract §7.2). */
export const ALPHA_ERRORS: ErrorTable = {
  codes: {
    1000: 'channel',
    1001: 'channel',
    1024: 'channel',
    1033: 'channel',
    1002: 'throttle',
    1039: 'throttle',
    1041: 'throttle',
    2045: 'throttle',
    1004: 'credential',
    2049: 'credential',
    1008: 'credential',
    2056: 'credential',
    1028: 'credential',
    1030: 'credential',
    2061: 'credential',
    1026: 'content',
    1027: 'content',
    1042: 'order',
    2013: 'order',
  },
  statuses: { 400: 'order', 413: 'order', 422: 'content', 429: 'throttle' },
  otherwise: 'channel',
};
const NUMBER_AT_END = /\((\d{3,6})\)\s*$/;

/**
 * The error of an answer of any status, in the V2 envelope or as `base_resp`. Error bodies of other shapes count as the
 * vendor's only below status 500: from 500 on they can come from a proxy that has passed the request on.
 */
export function readBusinessError(status: number, body: unknown): ApiError | undefined {
  const base = readObject(readObject(body)['base_resp']);
  const said = base['status_code'] ?? 0;
  const baseCode = typeof said === 'object' ? Number.NaN : Number(said);
  if (baseCode !== 0)
    return { code: String(baseCode), message: `${readText(base['status_msg']) ?? 'refused'} (${baseCode})` };
  const error = readObject(readObject(body)['error']);
  if ((status < 400 || status >= 500) && readObject(body)['type'] !== 'error') return undefined;
  if (typeof error['message'] !== 'string') return undefined;
  return { code: NUMBER_AT_END.exec(error['message'])?.[1], message: error['message'] };
}
