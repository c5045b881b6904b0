import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import { Problem } from '@reelgate/platform/problem';
import type { CallCharges, Charge } from './charges/call-charges.ts';
import type { CallSink } from './answers/call-sink.ts';
import { gateAnswer } from './answers/gated-sink.ts';
import { computeCharge } from './charges/compute-charge.ts';
import { holdCall } from './charges/hold-call.ts';
import type { HeldCall } from './charges/hold-call.ts';
import type { AttemptEnd } from './attempts/forward-call.ts';
import type { RelayCall } from './requests/relay-call.ts';
import { logAttempt } from './attempts/log-attempt.ts';
import type { Usage } from './protocols/protocol.ts';
import { channelsBusy, mayUse, modelNotFound, noChannelAvailable } from './channels/channel-refusals.ts';
import type { RelayChannel, RelayChannels } from './channels/relay-channels.ts';
import type { RelayMeter } from './relay-metrics.ts';
import { inRelaySpan } from './relay-span.ts';
import type { RelaySpan } from './relay-span.ts';
import type { PriceKeys } from './charges/price-keys.ts';
import { showError } from './answers/show-error.ts';
import { tryChannels } from './attempts/try-channels.ts';
import type { CallOutcome } from './attempts/try-channels.ts';
import type { CallWatch } from './attempts/watch-calls.ts';

const TOO_BUSY = 429;
const RELEASED: Charge = { basis: 'released' };

/** The end of a call whose answer has begun. */
export interface AnswerEnd {
  readonly status: number;
  /** Whole; broken off by the upstream, and the client was told; or abandoned by the client. */
  readonly how: 'whole' | 'broken' | 'gone';
  readonly usage: Usage | undefined;
}

/**
 * The call of an asynchronous job, which may take several runs. If nothing was sent or the upstream was too busy, the
 * hold stays for the next run; otherwise the job releases it.
 */
export interface KeptCall {
  /** Identifies the call at billing, in every run. */
  readonly callId: string;
  /** Milliseconds since 1970; from then on billing charges the hold by itself. */
  readonly lapsesAt: number;
  /** Records the intent before the call is sent. If it fails, the run ends. */
  readonly starting: () => Promise<void>;
}

/** The synchronous routes. */
export interface Relay {
  /**
   * Makes a call: holds its money, sends it to a channel, passes the answer to the sink, and settles once, however the
   * call ends. It refuses with a Problem until the sink has begun; after `upstream_failed` and `upstream_timeout` the
   * upstream may have done the work. Aborting `gone` cancels the upstream's work.
   */
  call(call: RelayCall, sink: CallSink, gone: AbortSignal, kept?: KeptCall): Promise<AnswerEnd>;
  /** Holds the money of a job's call when the job is created; refuses with a Problem. */
  hold(call: RelayCall, kept: Pick<KeptCall, 'callId' | 'lapsesAt'>): Promise<void>;
  /** Releases the hold of a job's call that will not be made. */
  release(callId: string): void;
  /** Refuses a call whose model the token may not use, or that no enabled channel has at this endpoint. */
  assertServed(call: Pick<RelayCall, 'endpoint' | 'model' | 'principal'>): void;
}

export interface RelayDeps {
  readonly channels: RelayChannels;
  readonly charges: CallCharges;
  readonly priceKeys: PriceKeys;
  readonly watch: CallWatch;
  readonly meter: RelayMeter;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
}

export function openRelay(deps: RelayDeps): Relay {
  return {
    call: (call, sink, gone, kept) => runCall(deps, { call, sink, gone, kept }),
    hold: async (call, kept) => {
      if (!call.endpoint.isFree) await holdCall(deps, call, listServingChannels(deps.channels, call), { job: kept });
    },
    release: (callId) => {
      deps.charges.settle({ callId, charge: RELEASED });
    },
    assertServed: (call) => void listServingChannels(deps.channels, call),
  };
}

interface CallContext {
  readonly call: RelayCall;
  readonly sink: CallSink;
  readonly gone: AbortSignal;
  readonly kept: KeptCall | undefined;
}

async function runCall(deps: RelayDeps, context: CallContext): Promise<AnswerEnd> {
  const channels = listServingChannels(deps.channels, context.call);
  return inRelaySpan(context.call, deps.clock, (traced) => runCallOn(deps, channels, context, traced));
}

async function runCallOn(
  deps: RelayDeps,
  channels: readonly RelayChannel[],
  { call, kept, ...client }: CallContext,
  traced: RelaySpan,
): Promise<AnswerEnd> {
  const { clock, meter, watch, log } = deps;
  const held = call.endpoint.isFree
    ? undefined
    : await holdCall(deps, call, channels, { job: kept, span: traced.span });
  const durable = held?.durable;
  const { sink, gone } = durable === undefined ? client : gateAnswer(client, durable);
  let isHeld = durable === undefined;
  const observed = meter.begin(call);
  let tried: CallOutcome | undefined;
  const onAttempt = (channel: RelayChannel, end: AttemptEnd, ms: number): void => {
    meter.attempt(channel, end);
    traced.attempt(channel, end, ms);
    logAttempt(log, call, channel, { end, ms });
  };
  try {
    if (kept !== undefined) await kept.starting();
    const onFirstByte = (): void => {
      observed.firstByte();
      traced.firstByte();
    };
    const trying = tryChannels({ call, channels, sink, gone, clock, watch, onFirstByte, onAttempt });
    // a refusal does not wait for the attempt that it ends
    [tried] = await Promise.all([trying, durable]);
    isHeld = true;
    if (kept !== undefined && isTooBusy(tried)) throw channelsBusy();
    return finishCall(call, sink, tried);
  } finally {
    const charge = isHeld ? chooseCharge(call, tried, kept) : RELEASED;
    if (held !== undefined) settle(deps, { call, kept, held, tried, charge });
    observed.end(tried, charge);
    traced.end(tried, charge);
  }
}

interface SettleContext extends Pick<CallContext, 'call' | 'kept'> {
  readonly held: HeldCall;
  readonly tried: CallOutcome | undefined;
  readonly charge: Charge;
}

/** Settles the call, unless it has no hold or a job keeps it for its next run. */
function settle({ charges, meter }: RelayDeps, { call, kept, held, tried, charge }: SettleContext): void {
  if (held.wasRefused()) meter.countRefusedBeside(call);
  else if (kept === undefined || !isUndone(tried))
    charges.settle({ callId: held.callId, charge, channel: readChannelId(tried) });
}

/** A job's call has no client that leaves: only the gateway cuts it off, so it is not charged. */
function chooseCharge(call: RelayCall, tried: CallOutcome | undefined, kept: KeptCall | undefined): Charge {
  if (tried === undefined || 'refusal' in tried || (kept !== undefined && tried.end.kind === 'gone')) return RELEASED;
  return computeCharge(call, tried.end);
}

function readChannelId(tried: CallOutcome | undefined): string | undefined {
  return tried !== undefined && 'channel' in tried ? tried.channel.settings.id : undefined;
}

/** Reports whether no upstream has begun the work. */
function isUndone(tried: CallOutcome | undefined): boolean {
  return tried === undefined || 'refusal' in tried || tried.end.kind === 'unreachable' || isTooBusy(tried);
}

function isTooBusy(tried: CallOutcome): boolean {
  return 'end' in tried && tried.end.kind === 'error' && tried.end.answer.status === TOO_BUSY;
}

/** Lists the channels that can take a call, in the order in which they are tried. Refuses a call without one. */
function listServingChannels(
  channels: RelayChannels,
  { endpoint, model, principal }: Pick<RelayCall, 'endpoint' | 'model' | 'principal'>,
): readonly RelayChannel[] {
  if (!mayUse(principal, model) || !channels.knows(endpoint.name, model)) throw modelNotFound(model);
  const serving = channels.serving(endpoint.name, model);
  if (serving.length === 0) throw noChannelAvailable();
  return serving;
}

function finishCall(call: RelayCall, sink: CallSink, tried: CallOutcome): AnswerEnd {
  if ('refusal' in tried) throw tried.refusal;
  return FINISH[tried.end.kind](tried.end as never, { call, sink, channel: tried.channel });
}

type EndOf<K extends AttemptEnd['kind']> = Extract<AttemptEnd, { readonly kind: K }>;
interface FinishContext {
  readonly call: RelayCall;
  readonly sink: CallSink;
  readonly channel: RelayChannel;
}

const FINISH: { readonly [K in AttemptEnd['kind']]: (end: EndOf<K>, context: FinishContext) => AnswerEnd } = {
  answered: ({ status, how, progress }) => ({ status, how, usage: progress.usage }),
  gone: ({ progress }) => ({ status: 0, how: 'gone', usage: progress?.usage }),
  error: ({ answer }, { call, sink, channel }) => {
    showError(sink, call, channel, answer);
    return { status: answer.status, how: 'whole', usage: undefined };
  },
  unreachable: ({ error }) => {
    throw noChannelAvailable(error);
  },
  unknown: ({ why, error }) => {
    const message =
      why === 'upstream_timeout'
        ? 'the upstream did not answer in time; it may have done the work'
        : 'the upstream closed the connection before it answered; it may have done the work';
    throw new Problem({ kind: 'unavailable', reason: why, message, cause: error });
  },
};
