import type { WebSocket, RawData } from 'ws';
import type { Clock } from '@reelgate/platform/clock';
import { newRate } from '@reelgate/platform/limits/rate-limiter';
import { scrubError, scrubText } from '../answers/scrub-error.ts';
import { modelRenamer } from '../../json-bytes/hide-model.ts';
import type { OpenUpstream } from './dial-upstream.ts';
import type { RealtimeSettings } from './realtime-settings.ts';
import type { SessionUsage } from './session-usage.ts';
import { watchToken } from '../../operations/watch-token.ts';

/** Codes of RFC 6455, 7.4.1, and of the registry. */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  noStatus: 1005,
  abnormal: 1006,
  policy: 1008,
  tooBig: 1009,
  internal: 1011,
  restart: 1012,
  tryAgain: 1013,
} as const;

/** The time for both sides to answer the close frame. */
const CLOSING_MS = 5000;
const SECONDS_A_MINUTE = 60;
const ERROR_MARK = Buffer.from('"error"');

/** The side that ended a session, and the code of the close. */
export interface SessionEnd {
  readonly by: 'client' | 'upstream' | 'gateway';
  readonly code: number;
}

interface SessionOptions {
  readonly clock: Clock;
  readonly settings: RealtimeSettings;
  readonly usage: SessionUsage;
  /** Refuses with a Problem once the token may no longer have the session. */
  readonly assertPermitted: () => Promise<void>;
  /** Aborted when the gateway stops. */
  readonly stopping: AbortSignal;
}

interface SessionClose extends SessionEnd {
  readonly reason: string;
  /** The error that a client gets before the close frame. */
  readonly event?: { readonly code: string; readonly message: string };
}

/** Passes messages between two open sides until one of them ends or a bound is met. Resolves when both have closed. */
export async function runSession(
  client: WebSocket,
  { socket: upstream, identities }: OpenUpstream,
  { clock, settings, usage, assertPermitted, stopping }: SessionOptions,
): Promise<SessionEnd> {
  const over = new AbortController();
  const ended = Promise.withResolvers<SessionClose>();
  const end = (ending: SessionClose): void => {
    over.abort();
    ended.resolve(ending);
  };
  const rate = newRate(clock, settings.messagesPerSecond * SECONDS_A_MINUTE, settings.messagesPerSecond * 2);
  const [toUpstream, toClient] = [
    modelRenamer(identities.publicModel, identities.upstreamModel),
    modelRenamer(identities.upstreamModel, identities.publicModel),
  ];
  pump(client, upstream, (message, isBinary) => {
    if (over.signal.aborted) return undefined;
    if (!rate.take()) {
      end({
        by: 'gateway',
        code: CLOSE.policy,
        reason: 'too many messages',
        event: {
          code: 'rate_limit_exceeded',
          message: `a session may send ${settings.messagesPerSecond} messages a second`,
        },
      });
      return undefined;
    }
    return isBinary ? message : toUpstream(message);
  });
  pump(upstream, client, (message, isBinary) => {
    if (isBinary) return message;
    usage.see(message);
    return isError(message) ? (scrubError(message, identities) ?? UNREADABLE) : toClient(message);
  });
  client.once('close', (code, reason) => end({ by: 'client', code, reason: reason.toString() }));
  upstream.once('close', (code, reason) =>
    end(code === CLOSE.abnormal ? LOST : { by: 'upstream', code, reason: scrubText(reason.toString(), identities) }),
  );
  stopping.addEventListener('abort', () => end(STOPPING), { signal: over.signal });
  if (stopping.aborted) end(STOPPING);
  const watch = { clock, pingMs: settings.pingMs, over: over.signal };
  void watchSide(client, watch);
  void watchSide(upstream, watch);
  void watchToken(assertPermitted, {
    clock,
    over: over.signal,
    onRefused: ({ reason, message }) => end({ ...REVOKED, event: { code: reason, message } }),
  });
  void clock.sleep(settings.durationMaxMs, over.signal).then(() => end(EXPIRED));
  upstream.resume();
  const ending = await ended.promise;
  await closeBoth(client, upstream, ending, clock);
  return { by: ending.by, code: ending.code };
}

const LOST: SessionClose = {
  by: 'upstream',
  code: CLOSE.internal,
  reason: 'the connection was lost',
  event: { code: 'upstream_failed', message: 'the connection to the model was lost' },
};
const STOPPING: SessionClose = { by: 'gateway', code: CLOSE.restart, reason: 'the gateway is stopping; connect again' };
const REVOKED: SessionClose = { by: 'gateway', code: CLOSE.policy, reason: 'the token no longer permits this session' };
const EXPIRED: SessionClose = {
  by: 'gateway',
  code: CLOSE.goingAway,
  reason: 'the session has reached its longest duration',
  event: { code: 'session_expired', message: 'the session has reached its longest duration; open another one' },
};

function encodeErrorEvent(event: { readonly code: string; readonly message: string }): string {
  return JSON.stringify({ type: 'error', error: { type: 'server_error', ...event, param: null, event_id: null } });
}

/** In place of an error that may name the upstream, and that cannot be read to remove it. */
const UNREADABLE = Buffer.from(
  encodeErrorEvent({ code: 'upstream_failed', message: 'the model reported an error that cannot be read' }),
);

/** Closing the side that ended the session again has no effect. */
async function closeBoth(
  client: WebSocket,
  upstream: WebSocket,
  { code, reason, event }: SessionClose,
  clock: Clock,
): Promise<void> {
  const closed = new AbortController();
  const sides = [client, upstream];
  const note = (): void => {
    if (sides.every((side) => side.readyState === side.CLOSED)) closed.abort();
  };
  for (const side of sides) side.once('close', note);
  if (event !== undefined && client.readyState === client.OPEN) client.send(encodeErrorEvent(event));
  for (const side of sides) {
    side.close(toCloseCode(code), toCloseReason(reason));
    side.resume();
  }
  note();
  await clock.sleep(CLOSING_MS, closed.signal);
  for (const side of sides) side.terminate();
}

/** Vendors write the type first, or after the event's id. */
const TYPE = /^\s*\{(?:\s*"event_id"\s*:\s*"[^"]*"\s*,)?\s*"type"\s*:\s*"(?:error|response\.done)"/;
const TYPE_WITHIN_BYTES = 400;

/** An error, or a response that may have ended in one. */
function isError(message: Buffer): boolean {
  return message.includes(ERROR_MARK) && TYPE.test(message.toString('latin1', 0, TYPE_WITHIN_BYTES));
}

/** The maximum number of bytes that wait for one side. Beyond it the other side is not read. */
const WAITING_BYTES_HIGH = 1024 * 1024;
const WAITING_BYTES_LOW = 256 * 1024;

/** Returns the message to pass on, or undefined to drop it. */
type Pass = (message: Buffer, isBinary: boolean) => Buffer | undefined;

/** Passes each message of one side on to the other, as fast as the other side takes them. */
function pump(from: WebSocket, to: WebSocket, pass: Pass): void {
  const resume = (): void => {
    if (from.isPaused && to.bufferedAmount <= WAITING_BYTES_LOW) from.resume();
  };
  from.on('message', (data: RawData, isBinary) => {
    const message = pass(data as Buffer, isBinary);
    if (message === undefined || to.readyState !== to.OPEN) return;
    to.send(message, { binary: isBinary }, resume);
    if (to.bufferedAmount > WAITING_BYTES_HIGH) from.pause();
  });
  // a paused side would not receive the close frame
  to.once('close', () => from.resume());
}

interface WatchOptions {
  readonly clock: Clock;
  readonly pingMs: number;
  /** Ends the watch. */
  readonly over: AbortSignal;
}

/** Pings a side at intervals, and cuts its connection if no byte arrives between two pings. */
async function watchSide(side: WebSocket, { clock, pingMs, over }: WatchOptions): Promise<void> {
  let hasReceived = true;
  const note = (): void => {
    hasReceived = true;
  };
  side.on('pong', note).on('ping', note).on('message', note);
  while (!over.aborted) {
    // a paused side receives no messages
    if (!hasReceived && !side.isPaused) {
      side.terminate();
      return;
    }
    hasReceived = false;
    if (side.readyState === side.OPEN) side.ping();
    await clock.sleep(pingMs, over);
  }
}

const REASON_BYTES_MAX = 123;

/**
 * Returns the code for a close frame that passes on a received or observed code, or undefined if the frame has none.
 */
export function toCloseCode(code: number): number | undefined {
  if (code === CLOSE.noStatus) return undefined;
  const passes =
    (code >= 1000 && code <= 1014 && code !== 1004 && code !== CLOSE.abnormal) || (code >= 3000 && code <= 4999);
  return passes ? code : CLOSE.internal;
}

/** Returns as much of the reason as fits into a close frame. */
export function toCloseReason(reason: string): string {
  const bytes = Buffer.from(reason);
  if (bytes.length <= REASON_BYTES_MAX) return reason;
  // A character that is cut becomes the replacement character, which is dropped.
  return bytes
    .subarray(0, REASON_BYTES_MAX)
    .toString()
    .replace(/\ufffd+$/, '');
}
