import type { WebSocket } from 'ws';
import { admission, lastResort } from '../channels/channel-admission.ts';
import type { Admission } from '../channels/channel-admission.ts';
import { blamesChannel, isForClients, isInconclusive } from '../channels/channel-faults.ts';
import { channelsBusy, noChannelAvailable } from '../channels/channel-refusals.ts';
import type { RelayChannel } from '../channels/relay-channels.ts';
import type { Identities } from '../answers/scrub-error.ts';
import { dialUpstream } from './dial-upstream.ts';
import type { DialResult, UpstreamRefusal } from './dial-upstream.ts';
import type { Handshake } from './handshake.ts';

/** An upstream that has taken the session; it is not read yet. The caller ends it with `releaseChannel`. */
export interface OpenUpstream {
  readonly channel: RelayChannel;
  readonly socket: WebSocket;
  readonly identities: Identities;
}

export interface OpenOptions {
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
  const first = await tryEach(channels, handshake, { ...options, admit: admission });
  const { decided, last, waitMs } = first.areAllDown
    ? await tryEach(channels, handshake, { ...options, admit: lastResort })
    : first;
  const found = decided ?? last;
  if (found !== undefined) return found;
  throw waitMs < Infinity ? channelsBusy(waitMs) : noChannelAvailable();
}

interface Round {
  readonly decided?: OpenUpstream | UpstreamRefusal;
  /** The last refusal that a client may see. */
  readonly last?: UpstreamRefusal;
  /** The milliseconds until a channel may be tried, if only limits forbid it now. */
  readonly waitMs: number;
  readonly areAllDown: boolean;
}

async function tryEach(
  channels: readonly RelayChannel[],
  handshake: Handshake,
  { admit, ...options }: OpenOptions & { readonly admit: Admission },
): Promise<Round> {
  let last: UpstreamRefusal | undefined;
  let waitMs = Infinity;
  let wasTried = false;
  for (const channel of channels) {
    const wait = await admit(channel);
    if (wait > 0) {
      waitMs = Math.min(waitMs, wait);
      continue;
    }
    wasTried = true;
    const { dialled, upstream } = await tryChannel(channel, handshake, options);
    if (upstream !== undefined) return { decided: upstream, waitMs, areAllDown: false };
    if (dialled.kind === 'gone') break;
    if (dialled.kind === 'refused' && !blamesChannel(dialled.refusal.status))
      return { decided: dialled.refusal, waitMs, areAllDown: false };
    if (dialled.kind === 'refused' && isForClients(dialled.refusal.status)) last = dialled.refusal;
  }
  return {
    ...(last === undefined ? {} : { last }),
    waitMs: wasTried ? Infinity : waitMs,
    areAllDown: !wasTried && waitMs === Infinity,
  };
}

async function tryChannel(
  channel: RelayChannel,
  handshake: Handshake,
  { onFailed, ...options }: OpenOptions,
): Promise<{ readonly dialled: DialResult; readonly upstream?: OpenUpstream }> {
  const identities = channel.findIdentities(handshake.model).inErrors;
  const dialled = await dialUpstream(channel, handshake, { ...options, identities });
  tellCircuit(channel, dialled);
  if (dialled.kind === 'open') return { dialled, upstream: { channel, socket: dialled.socket, identities } };
  releaseChannel(channel);
  if (dialled.kind !== 'gone')
    onFailed(channel, dialled.kind === 'refused' ? String(dialled.refusal.status) : 'unreachable');
  return { dialled };
}

/** Releases the session's permit of its channel. */
export function releaseChannel(channel: RelayChannel): void {
  channel.permits.release();
}

function tellCircuit({ circuit }: RelayChannel, dialled: DialResult): void {
  if (dialled.kind === 'gone' || (dialled.kind === 'refused' && isInconclusive(dialled.refusal.status)))
    circuit.undecided();
  else if (dialled.kind === 'failed' || (dialled.kind === 'refused' && blamesChannel(dialled.refusal.status)))
    circuit.failed();
  else circuit.worked();
}
