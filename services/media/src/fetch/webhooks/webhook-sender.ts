import type { Clock } from '@reelgate/platform/clock';
import type { HostPort } from '@reelgate/platform/config/units';
import type { Log } from '@reelgate/platform/log';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { readRetryAfterMs } from '@reelgate/platform/limits/read-asked-wait';
import type { SendWebhookRequest } from '@reelgate/proto/media/v1/media_service';
import { toHostKey } from '../addresses/fetch-target.ts';
import { FetchFault, HandshakeFault } from '../../domain/fetch-fault.ts';
import { isClosedByOrigin } from '../requests/fetch-connections.ts';
import { IDLE_MS, newKeptConnections } from '../requests/kept-connections.ts';
import type { KeptConnections } from '../requests/kept-connections.ts';
import { openConnection } from '../requests/origin-connection.ts';
import type { ConnectionUser, OriginConnection } from '../requests/origin-connection.ts';
import { receiveAnswer } from './receive-answer.ts';
import type { ReceivedAnswer } from './receive-answer.ts';
import { receiverPolicy } from './receiver-policy.ts';
import type { JudgeReceiver, Receiver } from './receiver-policy.ts';
import { newSendPermits } from './send-permits.ts';
import type { SendPermits } from './send-permits.ts';
import { newSendWatch } from './send-watch.ts';
import type { SendWatch } from './send-watch.ts';

const FAULTS = ['address_refused', 'not_reached', 'tls', 'timeout', 'too_large', 'redirect', 'busy'] as const;
type SendFault = (typeof FAULTS)[number];
/** The outcomes of a request. `answered`: with a status that is not a success; `failed`: by a fault of ours. */
const OUTCOMES = ['ok', 'answered', ...FAULTS, 'failed'] as const;

const USER_AGENT = 'reelgate-webhooks/1';
/** The time of an exchange if its order has no timeout. */
const TIMEOUT_MS = 15_000;
/** The longest wait that a receiver can ask for. */
const RETRY_AFTER_MS_MAX = 86_400_000;
/**
 * Idle connections: as many in all as there are concurrent requests, and to one origin as many as a few receivers of an
 * account need.
 */
const KEPT = { total: 512, perKey: 32 };

export interface SentWebhook {
  /** 0 if there was no answer. */
  readonly status: number;
  /** The reason for which there was no answer, or for which it counts as a failure. */
  readonly fault: SendFault | undefined;
  readonly durationMs: number;
  /** The wait that the receiver asks for, in milliseconds, or 0 if it asks for no wait. */
  readonly retryAfterMs: number;
  readonly answerHead: Uint8Array;
}

/** Posts a body to a URL of a client. A receiver that cannot be reached is an answer, not an error. */
export type SendWebhook = (order: SendWebhookRequest) => Promise<SentWebhook>;

export interface WebhookSenderOptions {
  readonly allow: readonly HostPort[];
  readonly dnsServers: readonly string[];
  readonly dnsMs: number;
  readonly headerBytesMax: number;
  readonly isOwn: (url: URL) => boolean;
}

export interface WebhookSenderDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
}

interface Sender {
  readonly clock: Clock;
  readonly log: Log;
  readonly options: WebhookSenderOptions;
  readonly judge: JudgeReceiver;
  readonly permits: SendPermits;
  readonly watch: SendWatch;
  readonly kept: KeptConnections;
}

type Outcome = Omit<SentWebhook, 'durationMs'>;

export function newWebhookSender(
  { clock, log, metrics, stopping }: WebhookSenderDeps,
  options: WebhookSenderOptions,
): SendWebhook {
  const sender: Sender = {
    clock,
    log,
    options,
    judge: receiverPolicy(options),
    permits: newSendPermits(),
    watch: newSendWatch(clock, stopping),
    kept: newKeptConnections(clock, stopping, KEPT),
  };
  const sends = metrics.counter('reelgate_media_webhooks_total', 'Requests to webhook receivers, by outcome', [
    'outcome',
  ]);
  sends.begin(() => OUTCOMES.map((outcome) => [outcome]));
  return async (order) => {
    const startedAt = clock.now();
    try {
      const outcome = stopping.aborted ? toFailure('busy') : await send(sender, order, startedAt);
      sends.labels(outcome.fault ?? (isSuccess(outcome.status) ? 'ok' : 'answered')).inc();
      return { ...outcome, durationMs: Math.max(clock.now() - startedAt, 0) };
    } catch (error) {
      sends.labels('failed').inc();
      log.error({ accountId: order.accountId, err: error }, 'a webhook could not be sent');
      throw error;
    }
  };
}

async function send(sender: Sender, order: SendWebhookRequest, startedAt: number): Promise<Outcome> {
  const receiver = findReceiver(sender.judge, order.url);
  if (receiver === undefined) return toFailure('address_refused');
  const host = receiver.isException ? undefined : toHostKey(receiver.url);
  const release = sender.permits.take(order.accountId, host);
  if (release === undefined) return toFailure('busy');
  try {
    const answer = await exchange(sender, order, { receiver, startedAt });
    // an operator can permit an address, but the client must not learn about it
    if (answer.broken instanceof FetchFault && answer.broken.code === 'address')
      sender.log.info({ accountId: order.accountId, err: answer.broken }, 'a webhook receiver is not dialled');
    return toOutcome(answer, sender.clock.now());
  } finally {
    release();
  }
}

function findReceiver(judge: JudgeReceiver, url: string): Receiver | undefined {
  try {
    return judge(url);
  } catch (error) {
    if (error instanceof FetchFault) return undefined;
    throw error;
  }
}

/** Runs an exchange over a kept connection of the same account, or over a new one. */
async function exchange(
  { clock, options, kept, watch }: Sender,
  order: SendWebhookRequest,
  { receiver: { url, policy }, startedAt }: { readonly receiver: Receiver; readonly startedAt: number },
): Promise<ReceivedAnswer> {
  const { dnsServers, headerBytesMax, dnsMs } = options;
  const key = `${order.accountId} ${url.origin}`;
  const connection =
    kept.take(key) ??
    openConnection(url.origin, { policy, dnsServers, headerBytesMax, idleMs: IDLE_MS }, () => clock.now());
  const ending = new AbortController();
  connection.use(newConnectionUser(dnsMs, ending.signal));
  const leave = watch.add({
    endsAt: startedAt + (Number(order.timeoutMs) || TIMEOUT_MS),
    bytes: () => connection.bytes(),
    end: (fault) => ending.abort(fault),
  });
  const answer = await post(connection, order, { url, signal: ending.signal });
  leave();
  if (answer.isWhole) kept.keep(key, connection);
  else connection.destroy();
  return answer;
}

/**
 * A receiver can close a kept connection at the moment of the request. The request then goes once more, through a new
 * connection, which passes the guard: the receiver knows repeats by their id.
 */
async function post(
  connection: OriginConnection,
  { headers, body }: SendWebhookRequest,
  { url, signal }: { readonly url: URL; readonly signal: AbortSignal },
): Promise<ReceivedAnswer> {
  const request = {
    path: url.pathname + url.search,
    method: 'POST',
    headers: {
      ...Object.fromEntries(headers.map(({ name, value }) => [name, value])),
      'accept-encoding': 'identity',
      'user-agent': USER_AGENT,
    },
    body,
  } as const;
  const wasOpen = connection.isOpen;
  const answer = await receiveAnswer(connection, request, signal);
  const isRepeated = wasOpen && answer.status === 0 && !signal.aborted && isClosedByOrigin(answer.broken);
  return isRepeated ? receiveAnswer(connection, request, signal) : answer;
}

/** The permits of a request are taken before it has a connection. */
function newConnectionUser(dnsMs: number, signal: AbortSignal): ConnectionUser {
  return {
    dnsMs,
    signal,
    enter: () => undefined,
    broke: () => undefined,
    permits: { admit: async (found) => found, reached: () => undefined },
  };
}

/** A connection that breaks after the status leaves the status valid: only the body is cut off. */
function toOutcome({ status, headers, head, broken }: ReceivedAnswer, now: number): Outcome {
  const fault = broken === undefined ? undefined : toSendFault(broken);
  const isAnswered = fault === undefined || (fault === 'not_reached' && status !== 0);
  return {
    status,
    fault: isAnswered ? (isRedirect(status) ? 'redirect' : undefined) : fault,
    retryAfterMs: readRetryAfterMs(headers, { now, mostMs: RETRY_AFTER_MS_MAX }),
    answerHead: head,
  };
}

const toFailure = (fault: SendFault): Outcome => ({ status: 0, fault, retryAfterMs: 0, answerHead: new Uint8Array() });

const BY_CODE: Readonly<Record<string, SendFault>> = {
  slow: 'timeout',
  busy: 'busy',
  too_large: 'too_large',
  UND_ERR_HEADERS_OVERFLOW: 'too_large',
};

/**
 * Turns a refused address into `not_reached`, like an address where no host answers, so that a client cannot tell them
 * apart.
 */
function toSendFault(error: unknown): SendFault {
  if (error instanceof HandshakeFault) return 'tls';
  const { code } = error as { readonly code?: unknown };
  return BY_CODE[String(code)] ?? 'not_reached';
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;
const isRedirect = (status: number): boolean => status >= 300 && status < 400;
