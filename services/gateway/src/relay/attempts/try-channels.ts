import type { Problem } from '@reelgate/platform/problem';
import { isForClients, isInconclusive } from '../channels/channel-faults.ts';
import { tryInTurn } from '../channels/try-in-turn.ts';
import type { TurnResult } from '../channels/try-in-turn.ts';
import type { RelayChannel } from '../channels/relay-channels.ts';
import { blamesItsChannel, isFault } from './attempt-result.ts';
import type { AttemptResult, CallOutcome } from './attempt-result.ts';
import { forwardCall } from './forward-call.ts';
import type { CallContext } from './call-context.ts';

/**
 * Tries the channels one after another; returns the refusal if none decides the call. It tries the next one only before
 * the first byte, and only after a fault of the channel.
 */
export function tryChannels(context: CallContext): Promise<CallOutcome | Problem> {
  return tryInTurn(context.channels, (channel) => tryChannel(context, channel));
}

async function tryChannel(context: CallContext, channel: RelayChannel): Promise<TurnResult<CallOutcome>> {
  const { clock, observer } = context;
  const startedAt = clock.now();
  try {
    const result = await forwardCall(context, channel);
    tellCircuit(channel, result);
    observer.attempt(channel, result, clock.now() - startedAt);
    const isFinal = !blamesItsChannel(result);
    const isShown = isFinal || (result.kind === 'error' && isForClients(result.answer.status));
    return { isFinal, outcome: isShown ? { result, channel } : undefined };
  } finally {
    channel.permits.release();
  }
}

function tellCircuit({ circuit }: RelayChannel, result: AttemptResult): void {
  if (result.kind === 'gone' || (result.kind === 'error' && isInconclusive(result.answer.status))) circuit.undecided();
  else if (isFault(result)) circuit.failed();
  else circuit.worked();
}
