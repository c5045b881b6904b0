import type { WebSocket } from 'ws';
import { Problem } from '@reelgate/platform/problem';
import { errorIdentities } from '../identities.ts';
import type { RelayChannel } from '../relay-channels.ts';
import type { Identities } from '../scrub-error.ts';
import { dialUpstream } from './dial-upstream.ts';
import type { Dialled, UpstreamRefusal } from './dial-upstream.ts';
import type { Handshake } from './handshake.ts';

/** Answers that blame the channel, not the request: another channel may do better. */
const CHANNEL_FAULTS: ReadonlySet<number> = new Set([401, 402, 403, 404, 408, 429]);
/** Of those, the ones that say something of us and nothing that the client should know. */
const OURS: ReadonlySet<number> = new Set([401, 402, 403]);
/** Say nothing of whether the channel works. */
const UNDECIDED: ReadonlySet<number> = new Set([404, 408, 429]);
const FULL_RETRY_MS = 1000;

/** An upstream that has taken the session; it is not read yet. Whoever gets it ends it with `leave`. */
export interface OpenUpstream {
  readonly channel: RelayChannel;
  readonly socket: WebSocket;
  readonly identities: Identities;
}

export interface OpenOptions {
  readonly messageBytesMax: number;
  /** Aborted when the client has left. */
  readonly gone: AbortSignal;
}

/** Tries the channels in turn until one takes the session, which then counts there like any call. */
export async function openUpstream(channels: readonly RelayChannel[], handshake: Handshake, options: OpenOptions): Promise<OpenUpstream | UpstreamRefusal> {
  let last: UpstreamRefusal | undefined;
  let waitMs = Infinity;
  for (const channel of channels) {
    const wait = admission(channel);
    if (wait !== 0) {
      waitMs = Math.min(waitMs, wait);
      continue;
    }
    const identities = errorIdentities(channel, handshake.model);
    channel.inFlight += 1;
    const dialled = await dialUpstream(channel, handshake, { ...options, identities });
    tellCircuit(channel, dialled);
    if (dialled.kind === 'open') return { channel, socket: dialled.socket, identities };
    leave(channel);
    if (dialled.kind === 'gone') break;
    if (dialled.kind === 'refused' && !movesOn(dialled.refusal)) return dialled.refusal;
    if (dialled.kind === 'refused' && isForClients(dialled.refusal)) last = dialled.refusal;
  }
  if (last !== undefined) return last;
  if (waitMs < Infinity) throw new Problem({ kind: 'exhausted', reason: 'rate_limit_exceeded', retryAfterMs: waitMs, message: 'everything that serves this model is at its limit; try again later' });
  throw new Problem({ kind: 'unavailable', reason: 'no_channel_available', message: 'nothing that serves this model can be reached at the moment; try again later' });
}

/** Gives a session's place on its channel back. */
export function leave(channel: RelayChannel): void {
  channel.inFlight -= 1;
}

/** After how many milliseconds a channel may be tried; infinite for one that is down. */
function admission({ inFlight, settings, circuit, rate }: RelayChannel): number {
  if (inFlight >= settings.inFlightMax) return FULL_RETRY_MS;
  if (!circuit.mayTry()) return Infinity;
  if (rate.take()) return 0;
  circuit.undecided();
  return rate.waitMs();
}

function tellCircuit({ circuit }: RelayChannel, dialled: Dialled): void {
  if (dialled.kind === 'gone' || (dialled.kind === 'refused' && UNDECIDED.has(dialled.refusal.status))) circuit.undecided();
  else if (dialled.kind === 'failed' || (dialled.kind === 'refused' && movesOn(dialled.refusal))) circuit.failed();
  else circuit.worked();
}

function movesOn({ status }: UpstreamRefusal): boolean {
  return status < 400 || status >= 500 || CHANNEL_FAULTS.has(status);
}

function isForClients({ status }: UpstreamRefusal): boolean {
  return status >= 400 && !OURS.has(status);
}
