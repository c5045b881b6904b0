/**
 * A store of ours cannot be used at the moment: it is away, full, overloaded or stopping. Never a fault that waiting does not mend, such as a statement
 * that is wrong.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  /** The store may have written it all the same: it fell silent before it said how the write ended. */
  readonly maybeWritten: boolean;

  constructor(cause: unknown, { maybeWritten = false }: { readonly maybeWritten?: boolean } = {}) {
    super(`a store cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.maybeWritten = maybeWritten;
  }
}
