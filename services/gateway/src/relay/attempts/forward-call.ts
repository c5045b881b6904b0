import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { Clock } from '@reelgate/platform/clock';
import type { AnswerBody, AnswerContext, Progress } from '../answers/answer-body.ts';
import { newEventAnswer } from '../answers/event-answer.ts';
import { newHeldAnswer } from '../answers/held-answer.ts';
import { newListAnswer } from '../answers/list-answer.ts';
import { newPassedAnswer } from '../answers/passed-answer.ts';
import { unpackAnswers } from '../answers/unpacking.ts';
import type { CallSink } from '../answers/call-sink.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import type { RelayChannel } from '../channels/relay-channels.ts';
import { buildUpstreamRequest } from '../requests/upstream-request.ts';
import type { CallWatch, WatchedCall } from './watch-calls.ts';

/** The longest time that an answer may take after its first byte. */
export const ANSWER_MS_MAX = 3_600_000;
/** The most bytes that are read of an error answer. */
const ERROR_BYTES_MAX = 256 * 1024;
const TIMEOUTS: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** An upstream's error answer, before a client sees it. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The outcome of one attempt. */
export type AttemptEnd =
  /** Nothing was sent. */
  | { readonly kind: 'unreachable'; readonly error: Error }
  | { readonly kind: 'error'; readonly answer: ErrorAnswer }
  /** It was sent, no part of an answer was shown, and no answer will come. */
  | { readonly kind: 'unknown'; readonly why: 'upstream_failed' | 'upstream_timeout'; readonly error: Error }
  /** Overrun: the gateway broke the answer off at its time limit; the channel need not be at fault. */
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly how: 'whole' | 'broken';
      readonly progress: Progress;
      readonly isOverrun?: boolean;
    }
  | { readonly kind: 'gone'; readonly wasSent: boolean; readonly progress: Progress | undefined };

export interface ForwardOptions {
  readonly call: RelayCall;
  readonly channel: RelayChannel;
  readonly sink: CallSink;
  /** Aborted when the client has left. */
  readonly gone: AbortSignal;
  readonly clock: Clock;
  readonly watch: CallWatch;
  /** Called once, when the upstream's head has arrived. */
  readonly onFirstByte: () => void;
}

const GONE = new Error('the client is gone');
const OVERRUN = new Error('the answer goes on for too long');

/** One attempt: sends the call to one channel and passes the answer to the sink. It never throws. */
export function forwardCall(options: ForwardOptions): Promise<AttemptEnd> {
  const { promise, resolve } = Promise.withResolvers<AttemptEnd>();
  if (options.gone.aborted) return Promise.resolve({ kind: 'gone', wasSent: false, progress: undefined });
  const { channel, call } = options;
  const { path, headers, body } = buildUpstreamRequest(call, channel);
  channel.pool.dispatch(
    { method: call.endpoint.method, path, headers, body },
    unpackAnswers(newAttemptHandler(options, resolve)),
  );
  return promise;
}

function newAttemptHandler(options: ForwardOptions, finish: (end: AttemptEnd) => void): Dispatcher.DispatchHandler {
  const { call, channel, sink, gone, clock, onFirstByte } = options;
  let controller: Dispatcher.DispatchController | undefined;
  let body: AnswerBody | undefined;
  let error: ErrorCollector | undefined;
  let status = 0;
  const watched = watchCall(options, { beat: () => body?.beat(), abort: (reason) => controller?.abort(reason) });
  const end = (how: AttemptEnd): void => {
    watched.stop();
    finish(how);
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
      onFirstByte();
      const type = readHeaderWord(headers, 'content-type', '');
      // no endpoint answers with HTML: the page comes from a proxy on the way
      if (code >= 300 || type.startsWith('text/html')) {
        error = errorCollector(code, headers);
        return;
      }
      sink.onDrain(() => controller?.resume());
      body = openAnswerBody(
        toAnswerContext(options, code, headers, () => controller?.pause()),
        type,
        headers,
      );
    },
    onResponseData: (_controller, chunk) => {
      watched.call.lastSentAt = clock.now();
      if (body === undefined) error?.take(chunk);
      else body.take(chunk);
    },
    onResponseEnd: (_controller, trailers) => {
      if (error !== undefined) {
        end({ kind: 'error', answer: error.answer() });
        return;
      }
      body?.end(channel.findIdentities(call.model).headersBack(trailers));
      end({ kind: 'answered', status, how: 'whole', progress: body?.progress() ?? NOTHING });
    },
    onResponseError: (_controller, reason) => {
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
  { channel, clock, gone, watch: calls }: ForwardOptions,
  { beat, abort }: { readonly beat: () => void; readonly abort: (reason: Error) => void },
): { readonly call: WatchedCall; stop(): void } {
  const now = clock.now();
  const call: WatchedCall = {
    lastSentAt: now,
    endsBy: now + channel.settings.firstByteTimeoutMs + ANSWER_MS_MAX,
    beat,
    overrun: () => {
      abort(OVERRUN);
    },
  };
  const leave = (): void => {
    abort(GONE);
  };
  gone.addEventListener('abort', leave, { once: true });
  const unwatch = calls.add(call);
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

function errorCollector(status: number, headers: IncomingHttpHeaders): ErrorCollector {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return {
    take: (chunk) => {
      if (bytes < ERROR_BYTES_MAX) chunks.push(chunk);
      bytes += chunk.length;
    },
    answer: () => ({ status, headers, body: Buffer.concat(chunks) }),
  };
}

const NOTHING: Progress = { begun: false, usage: undefined, textBytes: 0 };

interface FailedAttempt {
  readonly wasSent: boolean;
  readonly isGone: boolean;
  readonly status: number;
  readonly body: AnswerBody | undefined;
  readonly errorAnswer: ErrorAnswer | undefined;
}

function endAfterError(error: Error, { wasSent, isGone, status, body, errorAnswer }: FailedAttempt): AttemptEnd {
  const progress = body?.progress();
  if (isGone) return { kind: 'gone', wasSent, progress };
  if (!wasSent) return { kind: 'unreachable', error };
  // the status of an error is enough, even if its body broke off
  if (errorAnswer !== undefined) return { kind: 'error', answer: errorAnswer };
  const why = TIMEOUTS.has(readErrorCode(error)) || error === OVERRUN ? 'upstream_timeout' : 'upstream_failed';
  if (body === undefined || progress?.begun !== true) return { kind: 'unknown', why, error };
  body.broken(
    why === 'upstream_timeout'
      ? { status: 504, code: why, message: 'the upstream sent nothing for too long' }
      : { status: 502, code: why, message: 'the upstream closed the connection within its answer' },
  );
  return { kind: 'answered', status, how: 'broken', progress, isOverrun: error === OVERRUN };
}

function readErrorCode(error: Error): string {
  return (error as { readonly code?: string }).code ?? '';
}

function toAnswerContext(
  { call, channel, sink }: ForwardOptions,
  status: number,
  headers: IncomingHttpHeaders,
  pause: () => void,
): AnswerContext {
  const identities = channel.findIdentities(call.model);
  const length = headers['content-length'];
  return {
    call,
    sink,
    status,
    pause,
    headers: identities.headersBack(headers),
    contentLength: typeof length === 'string' ? length : undefined,
    hider: identities.hider,
    hides: call.model !== identities.upstreamModel,
    identities: identities.inErrors,
  };
}

/** Returns the first value of a header in lower case; some upstreams send it twice. */
function readHeaderWord(headers: IncomingHttpHeaders, name: string, otherwise: string): string {
  const value = headers[name];
  if (value === undefined) return otherwise;
  return (typeof value === 'string' ? value : String(value[0])).toLowerCase();
}

function openAnswerBody(context: AnswerContext, type: string, headers: IncomingHttpHeaders): AnswerBody {
  const { protocol } = context.call.endpoint;
  const isStream = protocol.isStream(context.call.content);
  // an answer without a type has the requested one
  const isJson = type === '' ? !isStream : /^(application|text)\/([\w.-]+\+)?json/.test(type);
  // an encoding that the gateway cannot unpack
  if (readHeaderWord(headers, 'content-encoding', 'identity') !== 'identity') return newPassedAnswer(context, false);
  if (type.startsWith('text/event-stream') || (type === '' && isStream)) return newEventAnswer(context);
  if (!isJson) return newPassedAnswer(context, false);
  return isStream && protocol.stream.faultElement !== undefined ? newListAnswer(context) : newHeldAnswer(context);
}
