/** `slow`, `network`, `status` and `busy` may pass by themselves; the others are the sender's. */
export type FetchFaultCode =
  'url' | 'address' | 'redirects' | 'encoding' | 'declared_type' | 'too_large' | 'status' | 'slow' | 'network' | 'busy';

const PASSING: ReadonlySet<FetchFaultCode> = new Set(['status', 'slow', 'network', 'busy']);

/** One text for every reason that lies with an address, so that nobody can map a network by asking for it. */
export const NOT_REACHED = 'could not be fetched: its address does not answer to us';

/**
 * Why a fetch ended. An error, since it travels through sockets and streams. `said` may be shown, and goes on from the item's name;
 * `message` is for the log.
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

/** What the network threw; a fault of ours that came by the same way stays what it is. */
export function networkFault(error: unknown): FetchFault {
  if (error instanceof FetchFault) return error;
  return new FetchFault('network', NOT_REACHED, error instanceof Error ? error.message : String(error), error);
}

/** Whether trying the same address again later can help. */
export function mayPass(fault: FetchFault): boolean {
  return PASSING.has(fault.code);
}
