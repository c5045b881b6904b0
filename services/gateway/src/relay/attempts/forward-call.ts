import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { newActiveSet } from '@reelgate/platform/active-set';
import { startWorker } from '@reelgate/platform/lifecycle/worker';
import { unpackAnswers } from '@reelgate/platform/unpack-answers';
import type { AnswerBody } from '../answers/answer-body.ts';
import { openAnswerBody, readHeaderWord } from '../answers/open-answer.ts';
import type { RelayChannel } from '../channels/relay-channels.ts';
import { buildUpstreamRequest } from '../requests/upstream-request.ts';
import { readErrorCode, readEnding, toFailedResult } from './attempt-result.ts';
import type { AttemptResult, ErrorAnswer } from './attempt-result.ts';
import { judgeError } from './judge-error.ts';
import type { CallSink } from '../answers/call-sink.ts';
import type { CallObserver } from '../observe-call.ts';
import type { UsageRequest } from '../protocols/protocol.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import type { IdSigner } from '../state/sign-ids.ts';

/** The longest time that an answer may take after its first byte. */
export const ANSWER_MS_MAX = 3_600_000;
/** The maximum number of bytes of an error answer that are read. */
const ERROR_BYTES_MAX = 256 * 1024;
const TIMEOUTS: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

const GONE = new Error('the client is gone');
const FAILED = new Error('the upstream reported a fault');
const OVERRUN = new Error('the answer goes on for too long');

/** Runs one attempt: sends the call to one channel and passes the answer to the sink. It never throws. */
export function forwardCall(
  context: CallContext,
  channel: RelayChannel,
  usageRequest?: UsageRequest,
): Promise<AttemptResult> {
  const { promise, resolve } = Promise.withResolvers<AttemptResult>();
  if (context.gone.aborted) return Promise.resolve({ kind: 'gone', wasSent: false, progress: undefined });
  const { call } = context;
  const { path, headers, body } = buildUpstreamRequest(call, channel, usageRequest);
  channel.pool.dispatch(
    { method: call.endpoint.method, path, headers, body },
    unpackAnswers(newAttemptHandler(context, channel, { asksUsage: usageRequest !== undefined, finish: resolve })),
  );
  return promise;
}

function newAttemptHandler(
  context: CallContext,
  channel: RelayChannel,
  { asksUsage, finish }: { readonly asksUsage: boolean; readonly finish: (result: AttemptResult) => void },
): Dispatcher.DispatchHandler {
  const { call, sink, gone, clock, observer, ids } = context;
  let controller: Dispatcher.DispatchController | undefined;
  let body: AnswerBody | undefined;
  let error: ErrorCollector | undefined;
  let status = 0;
  let answerHeaders: IncomingHttpHeaders = {};
  const watched = watchCall(context, channel, {
    beat: () => body?.beat(),
    abort: (reason) => controller?.abort(reason),
  });
  const end = (result: AttemptResult): void => {
    watched.stop();
    finish(result);
  };
  return {
    onRequestStart: (started) => {
      controller = started;
      if (gone.aborted) started.abort(GONE);
    },
    onResponseStart: (answering, code, headers) => {
      if (code < 200) return;
      controller = answering;
      status = code;
      // a call that tries a channel that was down does not block other calls while its answer runs
      channel.circuit.undecided(call.principal.accountId);
      observer.firstByte();
      const type = readHeaderWord(headers, 'content-type', '');
      // no endpoint answers with HTML: the page comes from a proxy on the way
      if (code >= 300 || type.startsWith('text/html')) {
        error = collectError(code, headers);
        return;
      }
      sink.onDrain(() => controller?.resume());
      answerHeaders = headers;
      body = openAnswerBody(
        { call, sink, channel, clock, ids, status: code, headers, asksUsage, pause: () => controller?.pause() },
        type,
      );
    },
    onResponseData: (_controller, chunk) => {
      watched.call.lastSentAt = clock.now();
      if (body === undefined) error?.take(chunk);
      else body.take(chunk);
      if (body?.failure() !== undefined) controller?.abort(FAILED);
    },
    onResponseEnd: (_controller, trailers) => {
      if (error !== undefined) {
        end({ kind: 'error', answer: error.answer() });
        return;
      }
      if (body === undefined) return;
      const ending = body.end(channel.findIdentities(call.model).headersBack(trailers));
      end(
        ending.how === 'failed'
          ? toFailedResult(call, answerHeaders, ending.fault)
          : { kind: 'answered', status, progress: body.progress(), ...readEnding(ending) },
      );
    },
    onResponseError: (_controller, reason) => {
      const failure = gone.aborted ? undefined : body?.failure();
      if (failure !== undefined) {
        end(toFailedResult(call, answerHeaders, failure));
        return;
      }
      end(
        endAfterError(reason, {
          wasSent: controller !== undefined,
          isGone: gone.aborted,
          status,
          body,
          errorAnswer: error?.answer(),
        }),
      );
    },
  };
}

/** Ends the call when its client leaves or its time is over, until the watch is stopped. */
function watchCall(
  { clock, gone, watch }: CallContext,
  channel: RelayChannel,
  { beat, abort }: { readonly beat: () => void; readonly abort: (reason: Error) => void },
): { readonly call: WatchedCall; stop(): void } {
  const now = clock.now();
  const call: WatchedCall = {
    lastSentAt: now,
    endsBy: now + channel.settings.firstByteTimeoutMs + ANSWER_MS_MAX,
    beat,
    overrun: () => abort(OVERRUN),
  };
  const leave = (): void => abort(GONE);
  gone.addEventListener('abort', leave, { once: true });
  const unwatch = watch.add(call);
  return {
    call,
    stop: () => {
      gone.removeEventListener('abort', leave);
      unwatch();
    },
  };
}

interface ErrorCollector {
  take(chunk: Buffer): void;
  answer(): ErrorAnswer;
}

function collectError(status: number, headers: IncomingHttpHeaders): ErrorCollector {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return {
    take: (chunk) => {
      if (bytes < ERROR_BYTES_MAX) chunks.push(chunk);
      bytes += chunk.length;
    },
    answer: () => {
      const body = Buffer.concat(chunks);
      return { status, headers, body, verdict: judgeError(status, body) };
    },
  };
}

interface FailedAttempt {
  readonly wasSent: boolean;
  readonly isGone: boolean;
  readonly status: number;
  readonly body: AnswerBody | undefined;
  readonly errorAnswer: ErrorAnswer | undefined;
}

function endAfterError(error: Error, { wasSent, isGone, status, body, errorAnswer }: FailedAttempt): AttemptResult {
  const progress = body?.progress();
  if (isGone) return { kind: 'gone', wasSent, progress };
  if (!wasSent) return { kind: 'unreachable', error };
  // the status of an error is enough, even if its body broke off
  if (errorAnswer !== undefined) return { kind: 'error', answer: errorAnswer };
  const why = TIMEOUTS.has(readErrorCode(error)) || error === OVERRUN ? 'upstream_timeout' : 'upstream_failed';
  if (body === undefined || progress?.begun !== true) return { kind: 'unknown', why, error };
  body.broken(
    why === 'upstream_timeout'
      ? { status: 504, code: why, message: 'the upstream sent no byte for too long' }
      : { status: 502, code: why, message: 'the upstream closed the connection within its answer' },
  );
  return { kind: 'answered', status, how: 'broken', progress, isOverrun: error === OVERRUN };
}

/** The state that the steps of a relayed call share. */
export interface CallContext {
  readonly call: RelayCall;
  /** The channels that can take the call, in the order in which they are tried. */
  readonly channels: readonly RelayChannel[];
  readonly sink: CallSink;
  /** Aborted when the client has left. */
  readonly gone: AbortSignal;
  readonly clock: Clock;
  readonly watch: CallWatch;
  readonly observer: CallObserver;
  /** Signs the ids of answers for the account of the call. */
  readonly ids: IdSigner;
}

const CHECK_EVERY_MS = 1000;
/** Load balancers and clients end a silent stream, the strictest after 30 seconds. */
const SILENCE_MS = 15_000;

/** A running call. */
export interface WatchedCall {
  /** The time at which the upstream last sent bytes, or the gateway a heartbeat. */
  lastSentAt: number;
  /** The time at which the call must have ended. */
  readonly endsBy: number;
  beat(): void;
  /** Ends a call that has run for too long. */
  overrun(): void;
}

/** Checks all running calls when one of them is due, at most once a second, with one timer. */
export interface CallWatch {
  /** Checks the call until the returned function is called. */
  add(call: WatchedCall): () => void;
  stop(): Promise<void>;
}

export function startCallWatch(clock: Clock, log: Log): CallWatch {
  const calls = newActiveSet<WatchedCall>();
  const worker = startWorker({
    name: 'watch of relayed calls',
    clock,
    log,
    idleMs: CHECK_EVERY_MS,
    pass: async () => {
      const now = clock.now();
      // a call that begins from now on is due later
      let dueAt = now + SILENCE_MS;
      for (const call of calls.all()) {
        if (now >= call.endsBy) {
          call.overrun();
          continue;
        }
        if (now - call.lastSentAt >= SILENCE_MS) {
          call.lastSentAt = now;
          call.beat();
        }
        dueAt = Math.min(dueAt, call.endsBy, call.lastSentAt + SILENCE_MS);
      }
      return { dueAt };
    },
  });
  return { add: (call) => calls.add(call), stop: () => worker.stop() };
}
