import type { IncomingHttpHeaders } from 'node:http';
import { hideInPieces } from '../../json-bytes/hide-model.ts';
import type { RelayChannel } from '../channels/relay-channels.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import type { AnswerBody, AnswerContext, Progress } from './answer-body.ts';
import type { CallSink } from './call-sink.ts';
import { reportsFault } from './event-data.ts';
import { scrubError } from './scrub-error.ts';
import { newElementsAnswer, newEventAnswer } from './stream-answers.ts';
import { keepLastBytes, readUsage } from './usage-in-bytes.ts';

/** A longer answer is not held; it passes as it arrives. */
const HELD_BYTES_MAX = 1024 * 1024;
const OPEN_LIST = 0x5b;
const LEADING_SPACE = /^\s*/;
const LEADING_SPACE_BYTES_MAX = 64;

/** The head of an upstream's answer. */
export interface AnswerHead {
  readonly call: RelayCall;
  readonly sink: CallSink;
  readonly channel: RelayChannel;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Stops the upstream until the sink has drained. */
  readonly pause: () => void;
}

/** Opens the way of an answer's body to the sink, by its type in lower case. */
export function openAnswerBody(head: AnswerHead, type: string): AnswerBody {
  const context = toAnswerContext(head);
  const { protocol } = head.call.endpoint;
  const isStream = protocol.isStream(head.call.content);
  // an answer without a type has the requested one
  const isJson = type === '' ? !isStream : /^(application|text)\/([\w.-]+\+)?json/.test(type);
  // an encoding that the gateway cannot unpack
  if (readHeaderWord(head.headers, 'content-encoding', 'identity') !== 'identity')
    return newPassedAnswer(context, false);
  if (type.startsWith('text/event-stream') || (type === '' && isStream)) return newEventAnswer(context);
  if (!isJson) return newPassedAnswer(context, false);
  return isStream && protocol.stream.faultElement !== undefined ? newListAnswer(context) : newHeldAnswer(context);
}

function toAnswerContext({ call, sink, channel, status, headers, pause }: AnswerHead): AnswerContext {
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
export function readHeaderWord(headers: IncomingHttpHeaders, name: string, otherwise: string): string {
  const value = headers[name];
  if (value === undefined) return otherwise;
  return (typeof value === 'string' ? value : String(value[0])).toLowerCase();
}

/** A JSON answer, held until it is complete: the client gets all of it or a refusal. */
function newHeldAnswer(context: AnswerContext): AnswerBody {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let whole: Progress | undefined;
  let passed: AnswerBody | undefined =
    Number(context.contentLength) > HELD_BYTES_MAX ? newPassedAnswer(context, true) : undefined;
  return {
    take: (chunk) => {
      if (passed !== undefined) {
        passed.take(chunk);
        return;
      }
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes <= HELD_BYTES_MAX) return;
      passed = newPassedAnswer(context, true);
      for (const held of chunks.splice(0)) passed.take(held);
    },
    end: (trailers) => {
      if (passed !== undefined) {
        passed.end(trailers);
        return;
      }
      const [first] = chunks;
      const answer = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
      whole = { begun: true, textBytes: answer.length, usage: readUsage(answer, context.call) };
      const told = reportsFault(answer) ? (scrubError(answer, context.identities) ?? answer) : answer;
      const hidden = context.hides ? context.hider.hide(told) : told;
      context.sink.begin(context.status, { ...context.headers, 'content-length': String(hidden.length) });
      context.sink.end(hidden, trailers);
    },
    broken: (fault) => passed?.broken(fault),
    beat: () => undefined,
    progress: () => passed?.progress() ?? whole ?? { begun: false, textBytes: 0, usage: undefined },
  };
}

/** Passes bytes as they arrive: sound, pictures, and JSON that is too long to be held. */
function newPassedAnswer(context: AnswerContext, isJson: boolean): AnswerBody {
  const { sink, hider, call, hides } = context;
  const rewrites = isJson && hides;
  let tail: Buffer = Buffer.alloc(0);
  const pieces = hideInPieces(hider);
  const write = (bytes: Buffer): void => {
    if (bytes.length > 0 && !sink.write(bytes)) context.pause();
  };
  const { contentLength } = context;
  sink.begin(context.status, {
    ...context.headers,
    ...(contentLength === undefined || rewrites ? {} : { 'content-length': contentLength }),
  });
  return {
    take: (chunk) => {
      if (isJson) tail = keepLastBytes(tail, chunk);
      write(rewrites ? pieces.take(chunk) : chunk);
    },
    end: (trailers) => {
      const rest = pieces.rest();
      sink.end(rest.length === 0 ? undefined : rest, trailers);
    },
    broken: () => {
      sink.broken();
    },
    beat: () => undefined,
    progress: () => ({ begun: true, textBytes: tail.length, usage: isJson ? readUsage(tail, call) : undefined }),
  };
}

/** A stream without events: a JSON list whose elements arrive one by one. Any other JSON is held like other answers. */
function newListAnswer(context: AnswerContext): AnswerBody {
  let body: AnswerBody | undefined;
  return {
    take: (chunk) => {
      body ??= isListBegun(chunk) ? newElementsAnswer(context) : newHeldAnswer(context);
      body.take(chunk);
    },
    end: (trailers) => {
      (body ?? newHeldAnswer(context)).end(trailers);
    },
    broken: (fault) => body?.broken(fault),
    beat: () => body?.beat(),
    progress: () => body?.progress() ?? { begun: false, usage: undefined, textBytes: 0 },
  };
}

function isListBegun(chunk: Buffer): boolean {
  const [space = ''] = LEADING_SPACE.exec(chunk.toString('latin1', 0, LEADING_SPACE_BYTES_MAX)) ?? [];
  return chunk[space.length] === OPEN_LIST;
}
