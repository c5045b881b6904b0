import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '@reelgate/platform/clock';
import { nameUpstream } from '../channels/relay-channel-config.ts';
import type { RelayChannel } from '../channels/relay-channels.ts';
import { NOTHING_CAME } from '../protocols/faults.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import type { IdSigner } from '../state/sign-ids.ts';
import { newAnswerEdits } from './answer-body.ts';
import type { AnswerBody, AnswerContext } from './answer-body.ts';
import { holdHead } from './call-sink.ts';
import type { CallSink } from './call-sink.ts';
import { hasWords, newHeldAnswer, newPassedAnswer, NO_PROGRESS } from './whole-answers.ts';
import { quoteSentIds } from './scrub-error.ts';
import { newElementsAnswer, newEventAnswer } from './stream-answers.ts';

const JSON_TYPE = /^(application|text)\/([\w.-]+\+)?json/;
const PAGE_TYPE = /^(application|text)\/([\w.-]+\+)?(xml|html)/;
const MEDIUM_TYPE = /^(audio|image|video)\//;

/** The head of an upstream's answer. */
export interface AnswerHead {
  readonly call: RelayCall;
  readonly sink: CallSink;
  readonly channel: RelayChannel;
  readonly clock: Clock;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** True if only the gateway has requested the usage. */
  readonly asksUsage: boolean;
  readonly ids: IdSigner;
  /** Stops the upstream until the sink has drained. */
  readonly pause: () => void;
}

/** Opens the way of an answer's body to the sink, by its type in lower case and by its first bytes. */
export function openAnswerBody(head: AnswerHead, type: string): AnswerBody {
  const context = toAnswerContext(head);
  const { protocol } = head.call.endpoint;
  const isStream = protocol.isStream(head.call.content);
  // an encoding that the gateway cannot unpack, or one that only the header has
  if (readHeaderWord(head.headers, 'content-encoding', 'identity') !== 'identity')
    return newReadAnswer(context, { isJson: false, isStream });
  // an answer without a type has the requested one
  if (type.startsWith('text/event-stream') || (type === '' && isStream)) return newEventAnswer(context);
  const isJson =
    type === '' ||
    JSON_TYPE.test(type) ||
    PAGE_TYPE.test(type) ||
    (protocol.delivery.takesBytes !== true && !MEDIUM_TYPE.test(type));
  return newReadAnswer(context, { isJson, isStream });
}

function toAnswerContext({ call, sink, channel, clock, headers, ids, ...head }: AnswerHead): AnswerContext {
  const identities = channel.findIdentities(call.model);
  const length = headers['content-length'];
  return {
    ...head,
    call,
    sink: holdHead(sink, clock),
    headers: identities.headersBack(headers),
    contentLength: typeof length === 'string' ? Number(length) : undefined,
    edits: newAnswerEdits({
      hider: call.model === identities.upstreamModel ? undefined : identities.hider,
      state: call.endpoint.protocol.state,
      sign: ids.signFor(nameUpstream(channel.settings)),
    }),
    identities: quoteSentIds(identities.inErrors, call),
  };
}

/** Returns the first value of a header in lower case; some upstreams send it twice. */
export function readHeaderWord(headers: IncomingHttpHeaders, name: string, otherwise: string): string {
  const value = headers[name];
  if (value === undefined) return otherwise;
  return (typeof value === 'string' ? value : String(value[0])).toLowerCase();
}

const SEEN_BYTES = 64;
/** Upstreams and proxies send events and errors under the wrong type. */
const EVENTS_BEGIN = /^\s*(data|event|id|retry)?:/;
const LIST_BEGINS = /^\s*\[/;
const OBJECT_BEGINS = /^\s*(\{\s*("|\}|$)|\[\s*\{)/;
/** In an answer that is not one of events these begin with one that has JSON. */
const ERROR_EVENT_BEGINS = /^\s*(event: ?error|data: ?\{)/;
const BYTE_ORDER_MARK = /^\u00EF\u00BB\u00BF/;
const PAGE_BEGINS = /^\s*<(!doctype|!--|html|head|body|title|center|h1|\?xml|error)/i;

interface ReadOptions {
  /** The endpoint and the type exclude everything but JSON. */
  readonly isJson: boolean;
  readonly isStream: boolean;
}

/** An answer that is read by its first bytes. */
function newReadAnswer(context: AnswerContext, { isJson, isStream }: ReadOptions): AnswerBody {
  const { protocol } = context.call.endpoint;
  let body: AnswerBody | undefined;
  const { takesNoWords = false } = protocol.delivery;
  const open = (first: Buffer): AnswerBody => {
    const begin = first.toString('latin1').replace(BYTE_ORDER_MARK, '');
    if (EVENTS_BEGIN.test(begin) && (isJson || isStream || takesNoWords)) return newEventAnswer(context);
    if (ERROR_EVENT_BEGINS.test(begin)) return newEventAnswer(context);
    if (isStream && protocol.stream.streamsLists === true && LIST_BEGINS.test(begin)) return newElementsAnswer(context);
    if (isJson || PAGE_BEGINS.test(begin)) return newHeldAnswer(context, true);
    const isHeld = OBJECT_BEGINS.test(begin) || (takesNoWords && hasWords(first));
    return isHeld ? newHeldAnswer(context, false) : newPassedAnswer(context, false);
  };
  return {
    take: (chunk) => {
      if (chunk.length === 0) return;
      body ??= open(chunk.subarray(0, SEEN_BYTES));
      body.take(chunk);
    },
    failure: () => body?.failure(),
    end: (trailers) => body?.end(trailers) ?? { how: 'failed', fault: NOTHING_CAME },
    broken: (fault) => body?.broken(fault),
    beat: () => body?.beat(),
    progress: () => body?.progress() ?? NO_PROGRESS,
  };
}
