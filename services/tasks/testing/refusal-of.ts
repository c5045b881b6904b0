import { Problem } from '@reelgate/platform/problem';

/** Everything that a client sees of a refusal. */
export async function refusalOf(work: Promise<unknown>): Promise<Omit<Problem, 'name' | 'stack' | 'cause'>> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { kind, reason, field, message, retryAfterMs } = error;
    return { kind, reason, field, message, retryAfterMs };
  }
  throw new Error('it was not refused');
}
