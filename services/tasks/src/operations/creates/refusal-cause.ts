import { Problem, CallEnded } from '@reelgate/platform/problem';
import type { ProblemKind } from '@reelgate/platform/problem';
import type { Cause } from '../../domain/failure-cause.ts';
import type { Deps, RefusedCreate } from '../deps.ts';
import { ChannelsFull, ServiceFull } from '../task-refusals.ts';

const CAUSE_OF_KIND: Readonly<Record<ProblemKind, Cause>> = {
  invalid: 'client',
  unauthenticated: 'client',
  forbidden: 'client',
  not_found: 'client',
  conflict: 'client',
  exhausted: 'client',
  unprocessable: 'client',
  gone: 'client',
  unavailable: 'us',
  internal: 'us',
};
/** The reasons with a kind that does not show the cause. */
const CAUSE_OF_REASON: Readonly<Record<string, Cause>> = {
  no_channel_available: 'upstream',
  // a price is missing in the configuration
  model_price_error: 'us',
};

/** Returns the cause of a refused create, or undefined if the caller left, which is no refusal. */
export function classifyRefusal(error: unknown): Cause | undefined {
  if (error instanceof CallEnded) return error.why === 'cancelled' ? undefined : 'us';
  if (!(error instanceof Problem)) return 'us';
  if (error.cause instanceof ChannelsFull) return 'upstream';
  if (error.cause instanceof ServiceFull) return 'us';
  return Object.hasOwn(CAUSE_OF_REASON, error.reason) ? CAUSE_OF_REASON[error.reason] : CAUSE_OF_KIND[error.kind];
}

/** Runs a create, and counts it by its cause if it is refused. */
export async function countRefusals<T>({ count }: Deps, refused: RefusedCreate, create: () => Promise<T>): Promise<T> {
  try {
    return await create();
  } catch (error) {
    const cause = classifyRefusal(error);
    if (cause !== undefined) count.refusedBy(cause, refused);
    throw error;
  }
}
