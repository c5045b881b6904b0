/** `slow`, `network`, `status` and `busy` can pass by themselves. The others are faults of the address. */
export type FetchFaultCode =
  'url' | 'address' | 'redirects' | 'encoding' | 'declared_type' | 'too_large' | 'status' | 'slow' | 'network' | 'busy';

const PASSING: ReadonlySet<FetchFaultCode> = new Set(['status', 'slow', 'network', 'busy']);

/** One text for all faults of an address, so that a client cannot map a network with requests. */
export const NOT_REACHED = 'could not be fetched: its address cannot be reached';

/**
 * Why a fetch ended. It is an error because it passes through sockets and streams. `said` is for the client and
 * continues a sentence that begins with the name of the item; `message` is for the log.
 */
export class FetchFault extends Error {
  override readonly name = 'FetchFault';
  readonly code: FetchFaultCode;
  readonly said: string;

  constructor(code: FetchFaultCode, said: string, detail: string = said, cause?: unknown) {
    super(detail, cause === undefined ? undefined : { cause });
    this.code = code;
    this.said = said;
  }
}

export function addressFault(detail: string): FetchFault {
  return new FetchFault('address', NOT_REACHED, detail);
}

/** Wraps an error of the network. A FetchFault stays unchanged. */
export function networkFault(error: unknown): FetchFault {
  if (error instanceof FetchFault) return error;
  return new FetchFault('network', NOT_REACHED, error instanceof Error ? error.message : String(error), error);
}

/** Whether a later fetch of the same address can succeed. */
export function mayPass(fault: FetchFault): boolean {
  return PASSING.has(fault.code);
}
