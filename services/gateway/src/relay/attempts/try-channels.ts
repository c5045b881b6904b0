import type { Clock } from '@reelgate/platform/clock';
import type { Problem } from '@reelgate/platform/problem';
import { admission, lastResort } from '../channels/channel-admission.ts';
import type { Admission } from '../channels/channel-admission.ts';
import type { CallSink } from '../answers/call-sink.ts';
import { blamesChannel, isForClients, isInconclusive } from '../channels/channel-faults.ts';
import { forwardCall } from './forward-call.ts';
import type { AttemptEnd } from './forward-call.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import { channelsBusy, noChannelAvailable } from '../channels/channel-refusals.ts';
import type { RelayChannel } from '../channels/relay-channels.ts';
import type { CallWatch } from './watch-calls.ts';

export interface TryOptions {
  readonly call: RelayCall;
  readonly channels: readonly RelayChannel[];
  readonly sink: CallSink;
  readonly gone: AbortSignal;
  readonly clock: Clock;
  readonly watch: CallWatch;
  readonly onFirstByte: () => void;
  /** Called with the end of each attempt. */
  readonly onAttempt: (channel: RelayChannel, end: AttemptEnd, ms: number) => void;
}

/** The outcome of a call on the channels: the attempt that decided it, or the refusal of all channels. */
export type CallOutcome = { readonly end: AttemptEnd; readonly channel: RelayChannel } | { readonly refusal: Problem };

/**
 * Tries the channels one after another. It tries the next one only before the first byte, and only after a fault of the
 * channel. If every circuit is open, one call at a time still tries the channels.
 */
export async function tryChannels(options: TryOptions): Promise<CallOutcome> {
  const first = await tryEach(options, admission);
  const { decided, last, waitMs } = first.areAllDown ? await tryEach(options, lastResort) : first;
  return decided ?? last ?? { refusal: waitMs < Infinity ? channelsBusy(waitMs) : noChannelAvailable() };
}

interface Round {
  readonly decided?: CallOutcome;
  /** The last answer that a client may see. */
  readonly last?: CallOutcome;
  /** The milliseconds until a channel may be tried, if only limits forbid it now. */
  readonly waitMs: number;
  readonly areAllDown: boolean;
}

async function tryEach(options: TryOptions, admit: Admission): Promise<Round> {
  let last: CallOutcome | undefined;
  let waitMs = Infinity;
  let wasTried = false;
  for (const channel of options.channels) {
    const wait = await admit(channel);
    if (wait > 0) {
      waitMs = Math.min(waitMs, wait);
      continue;
    }
    wasTried = true;
    const end = await tryChannel(options, channel);
    if (!blamesItsChannel(end)) return { decided: { end, channel }, waitMs, areAllDown: false };
    if (end.kind === 'error' && isForClients(end.answer.status)) last = { end, channel };
  }
  return {
    ...(last === undefined ? {} : { last }),
    waitMs: wasTried ? Infinity : waitMs,
    areAllDown: !wasTried && waitMs === Infinity,
  };
}

async function tryChannel(
  { call, sink, gone, clock, watch, onFirstByte, onAttempt }: TryOptions,
  channel: RelayChannel,
): Promise<AttemptEnd> {
  const startedAt = clock.now();
  const onHead = (): void => {
    // a call that tries a channel that was down does not block other calls while its answer runs
    channel.circuit.undecided();
    onFirstByte();
  };
  try {
    const end = await forwardCall({ call, channel, sink, gone, clock, watch, onFirstByte: onHead });
    tellCircuit(channel, end);
    onAttempt(channel, end, clock.now() - startedAt);
    return end;
  } finally {
    channel.permits.release();
  }
}

/** Reports whether another channel may succeed. */
function blamesItsChannel(end: AttemptEnd): boolean {
  return end.kind === 'unreachable' || (end.kind === 'error' && blamesChannel(end.answer.status));
}

function tellCircuit({ circuit }: RelayChannel, end: AttemptEnd): void {
  if (end.kind === 'gone' || (end.kind === 'error' && isInconclusive(end.answer.status))) circuit.undecided();
  else if (isFault(end)) circuit.failed();
  else circuit.worked();
}

/** Reports whether the channel failed. */
export function isFault(end: AttemptEnd): boolean {
  return (
    blamesItsChannel(end) ||
    end.kind === 'unknown' ||
    (end.kind === 'answered' && end.how === 'broken' && end.isOverrun !== true)
  );
}
