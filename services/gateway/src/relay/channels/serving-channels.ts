import { FULL_RETRY_MS } from '@reelgate/platform/limits/peer-limits';
import type { CallOf } from '@reelgate/platform/limits/peer-limits';
import type { Problem } from '@reelgate/platform/problem';
import { mayUse } from '../../clients/billing-client.ts';
import type { Principal } from '../../clients/billing-client.ts';
import type { RelayChannel, RelayChannels } from './relay-channels.ts';
import { refuse } from '../../refusals.ts';

const MODEL_LENGTH_SHOWN = 64;

/** The call of an account. */
type AccountCall = CallOf & { readonly caller: string };

/** Lists the channels that serve a model, in the order in which they are tried. Refuses a model without one. */
export function listServingChannels(
  channels: RelayChannels,
  principal: Principal,
  endpoint: string,
  model: string,
): readonly RelayChannel[] {
  if (!mayUse(principal, model) || !channels.knows(endpoint, model)) throw modelNotFound(model);
  const serving = channels.serving(endpoint, model);
  if (serving.length === 0) throw noChannelAvailable();
  return serving;
}

/** The result of a channel that was tried. */
export interface TurnResult<T> {
  /** The outcome that a client may see if no channel does better, undefined if there is none. */
  readonly outcome: T | undefined;
  /** True if no other channel is tried. */
  readonly isFinal: boolean;
}

/** Tries a channel, of which a permit was taken. It releases the permit when the channel is no longer used. */
export type TryChannel<T> = (channel: RelayChannel) => Promise<TurnResult<T>>;

/**
 * Tries the channels for an account one after another until a result is final. Returns the refusal if there is no
 * outcome. If every circuit is open, one call at a time still tries the channels.
 */
export async function tryInTurn<T>(
  channels: readonly RelayChannel[],
  accountId: string,
  tryChannel: TryChannel<T>,
): Promise<T | Problem> {
  const first = await tryEach(channels, tryChannel, { caller: accountId });
  const { outcome, waitMs } = first.areAllDown
    ? await tryEach(channels, tryChannel, { caller: accountId, isLastResort: true })
    : first;
  return outcome ?? (waitMs < Infinity ? channelsBusy(waitMs) : noChannelAvailable());
}

interface Round<T> {
  readonly outcome: T | undefined;
  /** The milliseconds until a channel may be tried, if only limits forbid it now. */
  readonly waitMs: number;
  readonly areAllDown: boolean;
}

async function tryEach<T>(
  channels: readonly RelayChannel[],
  tryChannel: TryChannel<T>,
  of: AccountCall,
): Promise<Round<T>> {
  let outcome: T | undefined;
  let waitMs = Infinity;
  let wasTried = false;
  for (const channel of channels) {
    const wait = await admitToChannel(channel, of);
    if (wait > 0) {
      waitMs = Math.min(waitMs, wait);
      continue;
    }
    wasTried = true;
    const result = await tryChannel(channel);
    outcome = result.outcome ?? outcome;
    if (result.isFinal) break;
  }
  return { outcome, waitMs: wasTried ? Infinity : waitMs, areAllDown: !wasTried && waitMs === Infinity };
}

/**
 * Returns the milliseconds after which the channel may be tried, infinite for a channel that is down. At zero a permit
 * of the channel is taken.
 */
async function admitToChannel({ permits, limits }: RelayChannel, of: AccountCall): Promise<number> {
  if (!permits.tryAcquire(of.caller)) return FULL_RETRY_MS;
  const waitMs = await limits.admit(of);
  if (waitMs > 0) permits.release(of.caller);
  if (waitMs > 0 && waitMs < Infinity) permits.refused(of.caller);
  return waitMs;
}

export function modelNotFound(model: string): Problem {
  const shown = JSON.stringify(model.slice(0, MODEL_LENGTH_SHOWN));
  return refuse('model_not_found', {
    field: 'model',
    message: `${shown} is not a model that this token can use here; GET /v1/models lists those that it can`,
  });
}

/** Every channel of the model is at one of its limits. */
export function channelsBusy(retryAfterMs?: number): Problem {
  return refuse('rate_limit_exceeded', {
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    message: 'the upstreams of this model are at their limits; try again later',
  });
}

export function noChannelAvailable(cause?: Error): Problem {
  return refuse('no_channel_available', {
    message: 'no upstream of this model can be reached now; try again later',
    cause,
  });
}
