/**
 * Runs the work of a transaction, and undoes it if the caller no longer waits. The transaction may have waited for the
 * database and then for a row lock.
 */
export async function whileAwaited<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  const result = await work();
  signal?.throwIfAborted();
  return result;
}
