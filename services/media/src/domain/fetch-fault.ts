/** The faults that can pass by themselves. */
const PASSING_CODES = ['status', 'slow', 'network', 'busy'] as const;
/** These, and the faults of an address. */
export const FETCH_FAULT_CODES = [
  'url',
  'address',
  'redirects',
  'encoding',
  'declared_type',
  'too_large',
  'malformed',
  ...PASSING_CODES,
] as const;
export type FetchFaultCode = (typeof FETCH_FAULT_CODES)[number];

const PASSING: ReadonlySet<FetchFaultCode> = new Set(PASSING_CODES);

/** One text for all faults of an address, so that a client cannot map a network with requests. */
export const NOT_REACHED = 'could not be fetched: its address cannot be reached';

/**
 * The reason for the end of a fetch. It is an error because it passes through sockets and streams. `said` is for the
 * client and continues a sentence that begins with the name of the item; `message` is for the log.
 */
export class FetchFault extends Error {
  override readonly name = 'FetchFault';
  readonly code: FetchFaultCode;
  readonly said: string;
  /** The milliseconds for which the server asks to wait; 0 if it does not. */
  readonly askedMs: number;

  constructor(code: FetchFaultCode, said: string, detail: string = said, askedMs = 0) {
    super(detail);
    this.askedMs = askedMs;
    this.code = code;
    this.said = said;
  }
}

/** The TLS handshake failed: the certificate is not accepted, or the server does not speak TLS. */
export class HandshakeFault extends FetchFault {
  constructor(error: unknown) {
    super('network', NOT_REACHED, readErrorCode(error));
  }
}

export function addressFault(detail: string): FetchFault {
  return new FetchFault('address', NOT_REACHED, detail);
}

/**
 * Stands for an error of the network. A FetchFault stays unchanged. Only the error's code is kept, because its message
 * names the host and the address of an upstream, and every log line of the fault would have them.
 */
export function networkFault(error: unknown): FetchFault {
  return error instanceof FetchFault ? error : new FetchFault('network', NOT_REACHED, readErrorCode(error));
}

function readErrorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return 'name' in error && typeof error.name === 'string' ? error.name : 'unknown';
}

/**
 * Replaces the fault of a fetch that dialled a private address, which an exception permits, so that the client learns
 * nothing about that host. A busy fetch stays unchanged, because it describes this service alone.
 */
export function hideAnswer(error: unknown): unknown {
  if (!(error instanceof FetchFault) || error.code === 'busy') return error;
  return new FetchFault(error.code, NOT_REACHED, error.message);
}

/** Reports whether a later fetch of the same address can succeed. */
export function isTransient(fault: FetchFault): boolean {
  return PASSING.has(fault.code);
}
