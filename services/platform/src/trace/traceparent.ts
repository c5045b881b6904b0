/** The content of a `traceparent` of W3C Trace Context. */
export interface Traceparent {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Later versions may go on after the flags. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const CHARACTERS_MAX = 512;
const SAMPLED = 1;

/** Reads a header or a stored carrier. Returns undefined if it is not valid. */
export function parseTraceparent(text: string | undefined): Traceparent | undefined {
  if (text === undefined || text.length > CHARACTERS_MAX) return undefined;
  const [whole, version, traceId = '', spanId = '', flags = '', rest] = TRACEPARENT.exec(text) ?? [];
  if (whole === undefined || (version === '00' && rest !== undefined)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
}

/** Returns the trace of a carrier, for exemplars, or undefined if it is not recorded. */
export function readSampledTraceId(carrier: string | undefined): string | undefined {
  const told = parseTraceparent(carrier);
  return told?.isSampled === true ? told.traceId : undefined;
}

/** The carrier of a recorded span. */
export function toCarrier(traceId: string, spanId: string): string {
  return `00-${traceId}-${spanId}-01`;
}
