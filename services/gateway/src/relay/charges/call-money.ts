import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import type { Span } from '@reelgate/platform/trace/trace';
import { inSpan } from '@reelgate/platform/trace/trace';
import type { Progress } from '../answers/answer-body.ts';
import type { AttemptResult, CallOutcome } from '../attempts/attempt-result.ts';
import { ANSWER_MS_MAX } from '../attempts/forward-call.ts';
import type { RelayChannel } from '../channels/relay-channels.ts';
import type { Usage } from '../../domain/call-usage.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import { listPriceKeys } from './call-charges.ts';
import type { CallCharges } from './call-charges.ts';
import type { ReservedHold, CallOrder, CallCharge } from '../../domain/call-order.ts';

/** The assumed length of a token, if the upstream reports no usage. */
const BYTES_A_TOKEN = 4;
const RELEASED: CallCharge = { basis: 'released' };
const HOLD: CallCharge = { basis: 'hold' };

export interface MoneyDeps {
  readonly charges: CallCharges;
  readonly newId: NewId;
  readonly clock: Clock;
}

/** A hold that a job places, or places again, under an id of its own. */
export interface JobHold {
  /** Identifies the call at billing, in every run. */
  readonly callId: string;
  /** Milliseconds since 1970. From then on billing charges the hold by itself. */
  readonly lapsesAt: number;
}

/** A call with a hold. */
export interface ChargedCall {
  readonly call: RelayCall;
  readonly channels: readonly RelayChannel[];
  /** The hold of the calling job, undefined for any other call. */
  readonly job: JobHold | undefined;
}

/** The hold of a call, which may be sent now. */
export interface CallHold extends ReservedHold {
  /** Undefined if the call is free. */
  readonly callId: string | undefined;
  /** Reports whether billing refused the hold of a call that was sent at the same time. Such a call is not settled. */
  wasRefused(): boolean;
}

const NO_HOLD: CallHold = { callId: undefined, durable: undefined, wasRefused: () => false };

/**
 * Holds the money of a call. The hold of a job is durable before the call is sent. Any other hold is durable before the
 * answer is shown, and reserved before the call is sent, unless billing is nearly certain to reserve it.
 */
export async function holdCall(deps: MoneyDeps, charged: ChargedCall, span?: Span): Promise<CallHold> {
  if (charged.call.endpoint.isFree) return NO_HOLD;
  const { charges } = deps;
  const order = buildCallOrder(deps, charged);
  const { callId } = order;
  if (charged.job !== undefined) {
    await inSpan(span, 'place hold', {}, () => charges.place(order));
    return { ...NO_HOLD, callId };
  }
  const { isForeseen, reserved } = charges.reserve(order);
  const reserving = inSpan(span, 'place hold', {}, () => reserved);
  return isForeseen ? reserveBesideCall(callId, reserving) : { ...NO_HOLD, callId, durable: (await reserving).durable };
}

function reserveBesideCall(callId: string, reserving: Promise<ReservedHold>): CallHold {
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

function buildCallOrder({ newId, clock }: MoneyDeps, { call, channels, job }: ChargedCall): CallOrder {
  const { endpoint, content, model, principal } = call;
  const longest = channels.reduce(
    (most, { settings }) => Math.max(most, settings.firstByteTimeoutMs + settings.idleTimeoutMs),
    0,
  );
  return {
    callId: job?.callId ?? newId('call'),
    accountId: principal.accountId,
    tokenId: principal.tokenId,
    priceKeys: listPriceKeys(endpoint.name, model),
    facts: endpoint.protocol.priceFacts(content),
    label: call.label,
    lapsesAt: job?.lapsesAt ?? clock.now() + longest * channels.length + ANSWER_MS_MAX,
  };
}

/** Chooses the charge of a call. Nothing is charged without an outcome: no channel has worked, or the hold failed. */
export function chooseCharge({ call, job }: ChargedCall, outcome: CallOutcome | undefined): CallCharge {
  // a job keeps no part of an answer, and has no client that leaves: only the gateway cuts it off
  if (outcome === undefined || (job !== undefined && !isWhole(outcome.result))) return RELEASED;
  return computeCharge(call, outcome.result);
}

function isWhole(result: AttemptResult): boolean {
  return result.kind === 'answered' && result.how === 'whole';
}

/** Computes a charge: zero without a delivery, and an estimate of the delivered part if the answer is incomplete. */
function computeCharge(call: RelayCall, result: AttemptResult): CallCharge {
  if (result.kind === 'gone') return result.wasSent ? computeLeftCharge(call, result.progress) : RELEASED;
  if (result.kind !== 'answered') return RELEASED;
  const { how, progress } = result;
  if (how === 'whole') return computeWholeCharge(call, progress);
  return progress.delivered ? computePartCharge(call, progress) : RELEASED;
}

/**
 * Computes the charge of a whole answer. A model that ended its answer without a result, as by a refusal, costs the
 * usage that the upstream reports for it.
 */
function computeWholeCharge(call: RelayCall, progress: Progress): CallCharge {
  const { usage, delivered } = progress;
  const { protocol } = call.endpoint;
  if (!delivered && !Object.values(usage ?? {}).some((quantity) => quantity > 0)) return RELEASED;
  if (delivered && usage !== undefined && protocol.usageOfPart === undefined && lacksSide(usage))
    return estimateSide(call, usage, progress);
  const known = usage ?? protocol.usageOfWhole?.(call.content);
  return known === undefined ? HOLD : { basis: 'usage', usage: known };
}

/** Reports whether an upstream counted the tokens of one direction alone. */
function lacksSide({ inputTokens, outputTokens }: Usage): boolean {
  return inputTokens === undefined ? (outputTokens ?? 0) > 0 : outputTokens === undefined;
}

/** Without the output, the input is a total, from which the output that came is taken. */
function estimateSide(call: RelayCall, usage: Usage, progress: Progress): CallCharge {
  const estimate = estimateText(call, progress);
  const { inputTokens: total, outputTokens } = usage;
  if (total === undefined || outputTokens !== undefined || !('usage' in estimate)) return estimate;
  const written = Math.min(total, estimate.usage.outputTokens ?? 0);
  return { ...estimate, usage: { ...estimate.usage, inputTokens: total - written, outputTokens: written } };
}

function computePartCharge(call: RelayCall, progress: Progress): CallCharge {
  const { protocol } = call.endpoint;
  if (protocol.usageOfPart === undefined) return estimateText(call, progress);
  const usage = protocol.usageOfPart(call.content, progress);
  return usage === undefined ? RELEASED : { basis: 'estimate', usage };
}

/**
 * Computes the charge for a client that has left: pictures and sound were generated to their end, and a recording was
 * read to its end.
 */
function computeLeftCharge(call: RelayCall, progress: Progress | undefined): CallCharge {
  const { protocol } = call.endpoint;
  if (protocol.usageOfPart === undefined) return estimateText(call, progress);
  const whole = protocol.usageOfWhole?.(call.content);
  return whole === undefined ? HOLD : { basis: 'estimate', usage: whole };
}

function estimateText({ endpoint: { protocol }, content }: RelayCall, progress: Progress | undefined): CallCharge {
  const bound = protocol.priceFacts(content);
  const { usage: seen, textBytes = 0 } = progress ?? {};
  // escapes lengthen a text beyond its tokens, so the limit of the request bounds the estimate
  const written = Math.min(Math.ceil(textBytes / BYTES_A_TOKEN), bound.outputTokens ?? Infinity);
  const inputTokens = seen?.inputTokens ?? Math.ceil((bound.inputTokens ?? 0) / BYTES_A_TOKEN);
  return {
    basis: 'estimate',
    usage: { ...seen, inputTokens, outputTokens: Math.max(written, seen?.outputTokens ?? 0) },
  };
}
