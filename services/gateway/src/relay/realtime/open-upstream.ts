import type { WebSocket } from 'ws';
import { Problem } from '@reelgate/platform/problem';
import { refusesCall } from '../attempts/judge-error.ts';
import { tryInTurn } from '../channels/serving-channels.ts';
import type { TurnResult } from '../channels/serving-channels.ts';
import type { RelayChannel } from '../channels/relay-channels.ts';
import type { Identities } from '../answers/scrub-error.ts';
import { dialUpstream } from './dial-upstream.ts';
import type { DialResult, UpstreamRefusal } from './dial-upstream.ts';
import type { Handshake } from './handshake.ts';

/** An upstream that has accepted the session and is not read yet. The caller releases its permit of the channel. */
export interface OpenUpstream {
  readonly channel: RelayChannel;
  readonly socket: WebSocket;
  readonly identities: Identities;
}

export interface OpenOptions {
  readonly accountId: string;
  readonly messageBytesMax: number;
  /** Aborted when the client has left. */
  readonly gone: AbortSignal;
  /** Called for each channel that did not take the session, with the outcome. */
  readonly onFailed: (channel: RelayChannel, end: string) => void;
}

/**
 * Tries the channels one after another until one takes the session. The session then holds a permit of the channel,
 * like a call.
 */
export async function openUpstream(
  channels: readonly RelayChannel[],
  handshake: Handshake,
  options: OpenOptions,
): Promise<OpenUpstream | UpstreamRefusal> {
  const found = await tryInTurn(channels, options.accountId, (channel) => tryChannel(channel, handshake, options));
  if (found instanceof Problem) throw found;
  if ('problem' in found && found.problem !== undefined) throw found.problem;
  return found;
}

async function tryChannel(
  channel: RelayChannel,
  handshake: Handshake,
  { onFailed, ...options }: OpenOptions,
): Promise<TurnResult<OpenUpstream | UpstreamRefusal>> {
  const identities = channel.findIdentities(handshake.model).inErrors;
  const dialled = await dialUpstream(channel, handshake, { ...options, identities });
  informCircuit(channel, dialled, options.accountId);
  if (dialled.kind === 'open') return { outcome: { channel, socket: dialled.socket, identities }, isFinal: true };
  channel.permits.release(options.accountId);
  if (dialled.kind === 'gone') return { outcome: undefined, isFinal: true };
  if (dialled.kind === 'failed') {
    onFailed(channel, 'unreachable');
    return { outcome: undefined, isFinal: false };
  }
  const { refusal } = dialled;
  channel.obeyAnswer(refusal);
  onFailed(channel, String(refusal.status));
  const { triesNext, isShown } = refusal.verdict;
  return { outcome: isShown ? refusal : undefined, isFinal: !triesNext };
}

function informCircuit({ circuit }: RelayChannel, dialled: DialResult, accountId: string): void {
  if (dialled.kind === 'open') circuit.worked();
  else if (dialled.kind === 'failed') circuit.failed(dialled.isUnreachable ? undefined : accountId);
  else if (dialled.kind === 'refused' && dialled.refusal.verdict.isFault) circuit.failed(accountId);
  else if (dialled.kind === 'refused' && refusesCall(dialled.refusal.verdict)) circuit.refused(accountId);
  else circuit.undecided(accountId);
}
