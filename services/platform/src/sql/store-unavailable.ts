/**
 * A store cannot be used at the moment: it is unreachable, full, overloaded or stopping. A permanent fault, such as a
 * wrong statement, is never one.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  /** The write may have succeeded: the store did not answer after it was sent. */
  readonly maybeWritten: boolean;

  constructor(cause: unknown, { maybeWritten = false }: { readonly maybeWritten?: boolean } = {}) {
    super(`a store cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.maybeWritten = maybeWritten;
  }
}
