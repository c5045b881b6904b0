/** The work of a transaction, undone where its caller no longer waits: it may have waited for the database, and then for a row of another's. */
export async function whileAwaited<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  const result = await work();
  signal?.throwIfAborted();
  return result;
}
