import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import { inSpan } from '@reelgate/platform/trace/in-span';
import type { Span } from '@reelgate/platform/trace/trace';
import { ANSWER_MS_MAX } from '../attempts/forward-call.ts';
import type { RelayChannel } from '../channels/relay-channels.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import type { CallCharges, CallOrder, ReservedHold } from './call-charges.ts';
import type { PriceKeys } from './price-keys.ts';

export interface HoldDeps {
  readonly charges: CallCharges;
  readonly priceKeys: PriceKeys;
  readonly newId: NewId;
  readonly clock: Clock;
}

/** A hold that a job has made, or makes again, under an id of its own. */
export interface JobHold {
  readonly callId: string;
  readonly lapsesAt: number;
}

/** The hold of a call, which may be sent now. */
export interface HeldCall extends ReservedHold {
  readonly callId: string;
  /** Reports whether billing did not reserve the money of a call sent beside its hold. Nothing is settled then. */
  wasRefused(): boolean;
}

/**
 * Holds the money of a call. The hold of a job is durable before the call is made. Any other hold is durable before the
 * answer is shown, and reserved before the call is made, unless billing is as good as certain to reserve it.
 */
export async function holdCall(
  deps: HoldDeps,
  call: RelayCall,
  channels: readonly RelayChannel[],
  { job, span }: { readonly job: JobHold | undefined; readonly span?: Span },
): Promise<HeldCall> {
  const { charges } = deps;
  const order = buildCallOrder(deps, call, channels, job);
  const { callId } = order;
  const reserve = (): Promise<ReservedHold> => inSpan(span, 'place hold', {}, () => charges.reserve(order));
  if (job !== undefined) {
    await inSpan(span, 'place hold', {}, () => charges.place(order));
    return { callId, durable: undefined, ...RESERVED };
  }
  if (charges.isForeseen(order)) return reserveBesideCall(callId, reserve());
  return { callId, durable: (await reserve()).durable, ...RESERVED };
}

const RESERVED = { wasRefused: () => false };

function reserveBesideCall(callId: string, reserving: Promise<ReservedHold>): HeldCall {
  let isRefused = false;
  const durable = reserving.then(
    (reserved) => reserved.durable,
    (error: unknown) => {
      isRefused = true;
      throw error;
    },
  );
  return { callId, durable, wasRefused: () => isRefused };
}

function buildCallOrder(
  { priceKeys, newId, clock }: HoldDeps,
  { endpoint, content, model, principal }: RelayCall,
  channels: readonly RelayChannel[],
  job: JobHold | undefined,
): CallOrder {
  const longest = channels.reduce(
    (most, { settings }) => Math.max(most, settings.firstByteTimeoutMs + settings.idleTimeoutMs),
    0,
  );
  return {
    callId: job?.callId ?? newId('call'),
    accountId: principal.accountId,
    tokenId: principal.tokenId,
    priceKeys: priceKeys(endpoint.name, model),
    facts: endpoint.protocol.priceFacts(content),
    lapsesAt: job?.lapsesAt ?? clock.now() + longest * channels.length + ANSWER_MS_MAX,
  };
}
