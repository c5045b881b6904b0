import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import { Problem } from '@reelgate/platform/problem';
import type { ProblemKind } from '@reelgate/platform/problem';
import { gateAnswer } from './answers/call-sink.ts';
import type { CallSink } from './answers/call-sink.ts';
import { quoteSentIds, scrubError } from './answers/scrub-error.ts';
import { blamesItsChannel, informCircuit, refuseVerdict } from './attempts/attempt-result.ts';
import type { CallOutcome, ErrorAnswer } from './attempts/attempt-result.ts';
import type { CallContext, CallWatch } from './attempts/forward-call.ts';
import { attemptCall } from './attempts/attempt-call.ts';
import { channelsBusy, listServingChannels, noChannelAvailable, tryInTurn } from './channels/serving-channels.ts';
import type { TurnResult } from './channels/serving-channels.ts';
import { refuse } from '../refusals.ts';
import type { RelayChannel, RelayChannels } from './channels/relay-channels.ts';
import type { CallCharges } from './charges/call-charges.ts';
import type { CallCharge } from '../domain/call-order.ts';
import { chooseCharge, holdCall } from './charges/call-money.ts';
import type { CallHold, ChargedCall, JobHold } from './charges/call-money.ts';
import type { RelayObserver } from './observe-call.ts';
import type { Usage } from '../domain/call-usage.ts';
import type { RelayCall } from './requests/relay-call.ts';
import { fitsState, refuseAwayUpstream, readCallState, refuseUnfit } from './state/read-state.ts';
import type { SignIdsFor } from './state/sign-ids.ts';

const TOO_BUSY = 429;
const RELEASED: CallCharge = { basis: 'released' };
/** The refusals for statuses with a body that cannot be read. */
const KINDS: Readonly<Record<number, readonly [ProblemKind, string]>> = {
  404: ['not_found', 'not_found'],
  408: ['unavailable', 'upstream_timeout'],
  409: ['conflict', 'upstream_refused'],
  413: ['invalid', 'body_too_large'],
  415: ['invalid', 'unsupported_media_type'],
  422: ['unprocessable', 'upstream_refused'],
  429: ['exhausted', 'rate_limit_exceeded'],
};

/** The end of a call after its answer has begun. */
export interface AnswerEnd {
  readonly status: number;
  /** Whole, broken off by the upstream with a notice to the client, or abandoned by the client. */
  readonly how: 'whole' | 'broken' | 'gone';
  readonly usage: Usage | undefined;
}

/**
 * The call of an asynchronous job, which may take several runs. If no request was sent or the upstream was too busy,
 * the hold stays for the next run. Otherwise the job releases it.
 */
export interface JobRun extends JobHold {
  /** Records the intent before the call is sent. If it fails, the run ends. */
  readonly recordStart: () => Promise<void>;
}

/** The synchronous routes. */
export interface Relay {
  /**
   * Makes a call: holds its money, sends it to a channel, passes the answer to the sink, and settles once, however the
   * call ends. It refuses with a Problem until the sink has begun; after `upstream_failed` and `upstream_timeout` the
   * upstream may have done the work. Aborting `gone` cancels the upstream's work.
   */
  call(call: RelayCall, sink: CallSink, gone: AbortSignal, job?: JobRun): Promise<AnswerEnd>;
  /** Holds the money of a job's call when the job is created. Refuses with a Problem. */
  hold(call: RelayCall, job: JobHold): Promise<void>;
  /** Releases the hold of a job's call that will not be sent. */
  release(callId: string): void;
  /** Refuses a call if the token may not use its model, or no enabled channel has the model at this endpoint. */
  assertServed(call: RelayCall): void;
}

export interface RelayDeps {
  readonly channels: RelayChannels;
  readonly charges: CallCharges;
  readonly watch: CallWatch;
  readonly observer: RelayObserver;
  readonly signIdsFor: SignIdsFor;
  readonly clock: Clock;
  readonly newId: NewId;
}

/** The state that the steps of a call share. */
interface RelayContext extends CallContext, ChargedCall {
  readonly job: JobRun | undefined;
}

export function newRelay(deps: RelayDeps): Relay {
  const { clock, watch, charges } = deps;
  return {
    call: async (sent, sink, gone, job) => {
      const routed = routeCall(deps, sent);
      return deps.observer.observe(routed.call, (observer) =>
        relayCall(deps, { ...routed, sink, gone, job, clock, watch, observer }),
      );
    },
    hold: async (call, job) => {
      await holdCall(deps, { ...routeCall(deps, call), job });
    },
    release: (callId) => charges.settle({ callId, charge: RELEASED }),
    assertServed: (call) => void routeCall(deps, call),
  };
}

/**
 * Finds the channels that can take a call. A call that names an object of one account of an upstream goes to the
 * channels of that account alone, with the ids as the upstream knows them.
 */
function routeCall(
  { channels, signIdsFor }: RelayDeps,
  call: RelayCall,
): Pick<RelayContext, 'call' | 'channels' | 'ids'> {
  const { principal, endpoint, model } = call;
  const serving = listServingChannels(channels, principal, endpoint.name, model);
  const ids = signIdsFor(principal.accountId);
  const state = readCallState(call, ids);
  if (state === undefined) return { call, channels: serving, ids };
  const fitting = serving.filter((channel) => fitsState(state, channel));
  if (fitting.length === 0) throw refuseUnfit(state, channels.listed(endpoint.name, model));
  const { body, quoted, demands } = state;
  return { call: { ...call, body, kept: { field: demands[0]?.field, quoted } }, channels: fitting, ids };
}

/** Holds the money of a call, tries its channels, finishes its answer and settles it. */
async function relayCall(deps: RelayDeps, context: RelayContext): Promise<AnswerEnd> {
  const { job, observer } = context;
  const hold = await holdCall(deps, context, observer.span);
  const { durable } = hold;
  const answering = durable === undefined ? context : { ...context, ...gateAnswer(context, durable) };
  let isHeld = durable === undefined;
  let outcome: CallOutcome | undefined;
  observer.begin();
  try {
    await job?.recordStart();
    // a refused hold does not wait for the attempt that it ends
    const [tried] = await Promise.all([
      tryInTurn(context.channels, context.call.principal.accountId, (channel) => tryChannel(answering, channel)),
      durable,
    ]);
    isHeld = true;
    if (tried instanceof Problem) throw nameKept(context, tried);
    outcome = tried;
    if (job !== undefined && isTooBusy(outcome)) throw channelsBusy(findWaitMs(context.channels));
    return finishCall(answering, outcome);
  } finally {
    const charge = isHeld ? chooseCharge(context, outcome) : RELEASED;
    settleCall(deps, context, hold, { outcome, charge });
    observer.end(outcome, charge);
  }
}

/** Tries a channel. The next one is tried only before the first byte, and only after a fault of the channel. */
async function tryChannel(context: CallContext, channel: RelayChannel): Promise<TurnResult<CallOutcome>> {
  const { call } = context;
  try {
    const result = await attemptCall(context, channel);
    informCircuit(channel, result, call.principal.accountId);
    if (result.kind === 'error') channel.obeyAnswer(result.answer);
    const isFinal = !blamesItsChannel(result);
    const isShown = isFinal || (result.kind === 'error' && result.answer.verdict.isShown);
    return { isFinal, outcome: isShown ? { result, channel } : undefined };
  } finally {
    channel.permits.release(call.principal.accountId);
  }
}

/** Names the id of the request that leaves no other channel. */
function nameKept({ call: { kept } }: CallContext, refusal: Problem): Problem {
  const isAway = kept?.field !== undefined && refusal.reason === 'no_channel_available';
  return isAway ? refuseAwayUpstream(kept.field, refusal) : refusal;
}

function finishCall(context: CallContext, { result, channel }: CallOutcome): AnswerEnd {
  switch (result.kind) {
    case 'answered':
      return { status: result.status, how: result.how, usage: result.progress.usage };
    case 'gone':
      return { status: 0, how: 'gone', usage: result.progress?.usage };
    case 'error':
      showError(context, channel, result.answer);
      return { status: result.answer.status, how: 'whole', usage: undefined };
    case 'unreachable':
      throw nameKept(context, noChannelAvailable(result.error));
    case 'unknown':
      throw refuse(result.why, {
        message:
          result.why === 'upstream_timeout'
            ? 'the upstream did not answer in time; it may have done the work'
            : 'the upstream closed the connection before it answered; it may have done the work',
        cause: result.error,
      });
  }
}

/**
 * Shows a client an upstream's error without the upstream's identities. An unreadable error becomes a refusal of the
 * gateway.
 */
function showError({ call, sink }: CallContext, channel: RelayChannel, answer: ErrorAnswer): void {
  const { status, headers, body } = answer;
  const identities = channel.findIdentities(call.model);
  const inErrors = quoteSentIds(identities.inErrors, call);
  const refusal = refuseVerdict(answer, inErrors);
  if (refusal !== undefined) throw refusal;
  const scrubbed = scrubError(body, inErrors);
  if (scrubbed === undefined) throw refuseStatus(status);
  sink.begin(status, {
    ...identities.headersBack(headers),
    'content-type': 'application/json',
    'content-length': String(scrubbed.length),
  });
  sink.end(scrubbed, {});
}

function refuseStatus(status: number): Problem {
  const [kind, reason] =
    KINDS[status] ??
    (status >= 500 ? (['unavailable', 'upstream_failed'] as const) : (['invalid', 'upstream_refused'] as const));
  return new Problem({ kind, reason, message: `the upstream refused the request with status ${status}` });
}

interface CallEnding {
  readonly outcome: CallOutcome | undefined;
  readonly charge: CallCharge;
}

/** Settles the call, unless it has no hold or a job keeps it for its next run. */
function settleCall(
  { charges, observer }: RelayDeps,
  { call, job }: RelayContext,
  hold: CallHold,
  { outcome, charge }: CallEnding,
): void {
  if (hold.callId === undefined) return;
  if (hold.wasRefused()) observer.countRefusedBeside(call);
  else if (job === undefined || !isUndone(outcome))
    charges.settle({ callId: hold.callId, charge, channel: outcome?.channel.settings.id });
}

/** Reports whether no upstream has begun the work. */
function isUndone(outcome: CallOutcome | undefined): boolean {
  return outcome === undefined || outcome.result.kind === 'unreachable' || isTooBusy(outcome);
}

/**
 * Returns the milliseconds until a channel may be called, or undefined if none has been asked to wait or is at its
 * limit.
 */
function findWaitMs(channels: readonly RelayChannel[]): number | undefined {
  return Math.min(...channels.map(({ limits }) => limits.waitMs())) || undefined;
}

function isTooBusy({ result }: CallOutcome): boolean {
  return result.kind === 'error' && result.answer.status === TOO_BUSY && result.answer.verdict.triesNext;
}
