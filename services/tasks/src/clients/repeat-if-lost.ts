import { isConnectionLost } from '@reelgate/platform/rpc/problems';
import type { CallOptions } from '@reelgate/platform/rpc/service';

/** A create that meets the stop of a replica asks another one, once. Nothing else repeats it. */
export async function repeatIfLost<T>(call: () => Promise<T>, { signal }: CallOptions = {}): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (signal?.aborted === true || !isConnectionLost(error)) throw error;
    return call();
  }
}
