/** Runs work that Ctrl-C stops in order. A second Ctrl-C ends the program at once. */
export async function untilInterrupted<T>(work: (stop: AbortSignal) => Promise<T>): Promise<T> {
  const interrupted = new AbortController();
  const stop = (): void => {
    interrupted.abort();
  };
  process.once('SIGINT', stop);
  try {
    return await work(interrupted.signal);
  } finally {
    process.off('SIGINT', stop);
  }
}
