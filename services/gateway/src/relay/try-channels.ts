import type { Clock } from '@reelgate/platform/clock';
import { Problem } from '@reelgate/platform/problem';
import type { CallSink } from './call-sink.ts';
import { forwardCall } from './forward-call.ts';
import type { AttemptEnd, ErrorAnswer } from './forward-call.ts';
import type { FrozenCall } from './frozen-call.ts';
import type { RelayChannel } from './relay-channels.ts';
import type { CallWatch } from './watch-calls.ts';

/** A channel that is full says when it is not by nobody's clock. */
const FULL_RETRY_MS = 1000;

/** Answers that blame the channel, not the request: another channel may do better. */
const CHANNEL_FAULTS: ReadonlySet<number> = new Set([401, 402, 403, 404, 408, 429]);
/** Of those, the ones that say something of us and nothing that the client should know. */
const OURS: ReadonlySet<number> = new Set([401, 402, 403]);
/** Say nothing of whether the channel works. */
const UNDECIDED: ReadonlySet<number> = new Set([404, 408, 429]);

export interface TryOptions {
  readonly call: FrozenCall;
  readonly channels: readonly RelayChannel[];
  readonly sink: CallSink;
  readonly gone: AbortSignal;
  readonly clock: Clock;
  readonly watch: CallWatch;
  readonly onFirstByte: () => void;
  /** Told how each attempt ended. */
  readonly onAttempt: (channel: RelayChannel, end: AttemptEnd) => void;
}

/** How a call ended on the channels: an attempt that decided it, or the refusal of all. */
export type Tried = { readonly end: AttemptEnd; readonly channel: RelayChannel } | { readonly refusal: Problem };

/** Tries the channels in turn: the next one only before the first byte, and only for a fault of the channel. */
export async function tryChannels(options: TryOptions): Promise<Tried> {
  let last: { readonly end: AttemptEnd; readonly channel: RelayChannel } | undefined;
  let waitMs = Infinity;
  let wasTried = false;
  for (const channel of options.channels) {
    const wait = admission(channel);
    if (wait !== 'may') {
      if (wait !== 'down') waitMs = Math.min(waitMs, wait);
      continue;
    }
    wasTried = true;
    const end = await onChannel(options, channel);
    if (!movesOn(end)) return { end, channel };
    if (end.kind === 'error' && isForClients(end.answer)) last = { end, channel };
  }
  if (last !== undefined) return last;
  return { refusal: waitMs < Infinity && !wasTried ? busy(waitMs) : unavailable() };
}

async function onChannel({ call, sink, gone, clock, watch, onFirstByte, onAttempt }: TryOptions, channel: RelayChannel): Promise<AttemptEnd> {
  channel.inFlight += 1;
  try {
    const end = await forwardCall({ call, channel, sink, gone, clock, watch, onFirstByte });
    tellCircuit(channel, end);
    onAttempt(channel, end);
    return end;
  } finally {
    channel.inFlight -= 1;
  }
}

/** Whether a channel may be tried now; if not, that it is down or after how long it may. */
function admission({ inFlight, settings, circuit, rate }: RelayChannel): 'may' | 'down' | number {
  if (inFlight >= settings.inFlightMax) return FULL_RETRY_MS;
  if (!circuit.mayTry()) return 'down';
  if (rate.take()) return 'may';
  circuit.undecided();
  return rate.waitMs();
}

function movesOn(end: AttemptEnd): boolean {
  if (end.kind === 'unreachable') return true;
  return end.kind === 'error' && (end.answer.status < 400 || end.answer.status >= 500 || CHANNEL_FAULTS.has(end.answer.status));
}

function isForClients({ status }: ErrorAnswer): boolean {
  return status >= 400 && !OURS.has(status);
}

function tellCircuit({ circuit }: RelayChannel, end: AttemptEnd): void {
  if (end.kind === 'gone') circuit.undecided();
  else if (end.kind === 'error' && UNDECIDED.has(end.answer.status)) circuit.undecided();
  else if (movesOn(end) || end.kind === 'unknown' || (end.kind === 'answered' && end.how === 'broken')) circuit.failed();
  else circuit.worked();
}

function busy(retryAfterMs: number): Problem {
  return new Problem({ kind: 'exhausted', reason: 'rate_limit_exceeded', retryAfterMs, message: 'everything that serves this model is at its limit; try again later' });
}

function unavailable(): Problem {
  return new Problem({ kind: 'unavailable', reason: 'no_channel_available', message: 'nothing that serves this model can be reached at the moment; try again later' });
}
