import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { Problem } from '@reelgate/platform/problem';
import { isUnreachable } from '@reelgate/platform/unreachable';
import { judgeError, refusesCall } from '../attempts/judge-error.ts';
import type { ErrorVerdict } from '../attempts/judge-error.ts';
import { refuseVerdict } from '../attempts/attempt-result.ts';
import type { RelayChannel } from '../channels/relay-channels.ts';
import { scrubError } from '../answers/scrub-error.ts';
import type { Identities } from '../answers/scrub-error.ts';
import { setSearchModel } from './handshake.ts';
import type { Handshake } from './handshake.ts';
import { tryInTurn } from '../channels/serving-channels.ts';
import type { TurnResult } from '../channels/serving-channels.ts';

const DIAL_TIMEOUT_MS = 15_000;
const REFUSAL_BYTES_MAX = 64 * 1024;
const PATH = '/v1/realtime';
const WHOLE_SECONDS = /^\d{1,6}$/;

/** An upstream's refusal of a session, without its identities. */
export interface UpstreamRefusal {
  readonly status: number;
  /** The body for the client, undefined if the body cannot be shown. */
  readonly body: Buffer | undefined;
  readonly verdict: ErrorVerdict;
  /** The refusal that the client gets in its place, if there is one. */
  readonly problem: Problem | undefined;
  /** In whole seconds. */
  readonly retryAfter: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

type DialResult =
  /** An open session that is not read yet. */
  | { readonly kind: 'open'; readonly socket: WebSocket }
  | { readonly kind: 'refused'; readonly refusal: UpstreamRefusal }
  /** No answer, or one that is no handshake. */
  | { readonly kind: 'failed'; readonly isUnreachable: boolean }
  | { readonly kind: 'gone' };

interface DialOptions {
  readonly identities: Identities;
  readonly messageBytesMax: number;
  /** Aborted when the client has left. */
  readonly gone: AbortSignal;
}

/**
 * Opens a session at the upstream of one channel. The upstream does not act before the session is open, so another
 * channel may be tried.
 */
async function dialUpstream(
  channel: RelayChannel,
  handshake: Handshake,
  { identities, messageBytesMax, gone }: DialOptions,
): Promise<DialResult> {
  const { name, value } = channel.credential;
  const origin = new URL(channel.settings.baseUrl).origin.replace(/^http/, 'ws');
  const socket = new WebSocket(
    `${origin}${channel.toUpstreamPath(PATH)}${setSearchModel(handshake.search, identities.upstreamModel)}`,
    [...handshake.protocols],
    {
      headers: toHeaderRecord([...handshake.headers, name, value]),
      handshakeTimeout: Math.min(DIAL_TIMEOUT_MS, channel.settings.firstByteTimeoutMs),
      maxPayload: messageBytesMax,
      perMessageDeflate: false,
      followRedirects: false,
    },
  );
  const { promise, resolve } = Promise.withResolvers<DialResult>();
  const fail = (error: unknown): void =>
    resolve(gone.aborted ? { kind: 'gone' } : { kind: 'failed', isUnreachable: isUnreachable(error) });
  socket.once('open', () => {
    // no message may be lost before the client's own handshake
    socket.pause();
    resolve({ kind: 'open', socket });
  });
  socket.once('unexpected-response', (request, response) => {
    readRefusal(request, response, identities).then((refusal) => resolve({ kind: 'refused', refusal }), fail);
  });
  // this listener stays: a close event follows every error of an open session
  socket.on('error', fail);
  const abort = (): void => socket.terminate();
  gone.addEventListener('abort', abort, { once: true });
  try {
    return await promise;
  } finally {
    gone.removeEventListener('abort', abort);
  }
}

async function readRefusal(
  request: ClientRequest,
  response: IncomingMessage,
  identities: Identities,
): Promise<UpstreamRefusal> {
  request.setTimeout(DIAL_TIMEOUT_MS, () => request.destroy());
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response) {
    parts.push(part as Buffer);
    bytes += (part as Buffer).length;
    if (bytes > REFUSAL_BYTES_MAX) break;
  }
  request.destroy();
  const retryAfter = response.headers['retry-after'] ?? '';
  const [status, body] = [response.statusCode ?? 0, Buffer.concat(parts)];
  const verdict = judgeError(status, body);
  return {
    status,
    headers: response.headers,
    verdict,
    body: scrubError(body, identities),
    problem: refuseVerdict({ status, verdict }, identities),
    retryAfter: WHOLE_SECONDS.test(retryAfter) ? retryAfter : undefined,
  };
}

function toHeaderRecord(pairs: readonly string[]): Record<string, string[]> {
  const headers = new Map<string, string[]>();
  for (let at = 0; at + 1 < pairs.length; at += 2) {
    const name = pairs[at] ?? '';
    headers.set(name, [...(headers.get(name) ?? []), pairs[at + 1] ?? '']);
  }
  return Object.fromEntries(headers);
}

/** An upstream that has accepted the session and is not read yet. The caller releases its permit of the channel. */
export interface OpenUpstream {
  readonly channel: RelayChannel;
  readonly socket: WebSocket;
  readonly identities: Identities;
}

interface OpenOptions {
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
