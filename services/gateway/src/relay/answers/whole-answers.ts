import { countTextBytes } from '../../json-bytes/json-members.ts';
import { NOTHING_CAME, findFault, toMissingFault } from '../protocols/faults.ts';
import type { Fault } from '../protocols/faults.ts';
import { UNBUFFERED, WHOLE } from './answer-body.ts';
import type { AnswerBody, AnswerContext, Progress } from './answer-body.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import { keepLastBytes, readUsage } from './usage-in-bytes.ts';
import { parseLastObject } from '../../json-bytes/find-objects.ts';
import type { DeliveryRules } from '../protocols/protocol.ts';
import { findFirstElement, mentionsFault } from '../protocols/mentions.ts';
import type { Usage } from '../../domain/call-usage.ts';

/** A longer answer is not held. It passes as it arrives. */
const HELD_BYTES_MAX = 1024 * 1024;

/**
 * A JSON answer, held until it is complete: the client gets all of it or a refusal. Bytes that only look like JSON pass
 * if the endpoint answers with bytes.
 */
export function newHeldAnswer(context: AnswerContext, isJson: boolean): AnswerBody {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let whole: Progress | undefined;
  let passed: AnswerBody | undefined =
    (context.contentLength ?? 0) > HELD_BYTES_MAX ? newPassedAnswer(context, isJson) : undefined;
  const { takesNoWords = false } = context.call.endpoint.protocol.delivery;
  const pass = (): AnswerBody => {
    passed ??= newPassedAnswer(context, isJson);
    for (const held of chunks.splice(0)) passed.take(held);
    return passed;
  };
  return {
    take: (chunk) => {
      if (passed !== undefined) {
        passed.take(chunk);
        return;
      }
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > HELD_BYTES_MAX) pass();
    },
    failure: () => undefined,
    end: (trailers) => {
      if (passed !== undefined) return passed.end(trailers);
      const [first] = chunks;
      const answer = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
      const verdict = judgeAnswer(answer, context.call);
      if (verdict.kind === 'failed') {
        const isOther = !isJson && verdict.fault === NOT_JSON && !(takesNoWords && hasWords(answer));
        return isOther ? pass().end(trailers) : { how: 'failed', fault: verdict.fault };
      }
      const { usage, kind } = verdict;
      whole = {
        begun: true,
        delivered: kind === 'delivered',
        textBytes: countAnswerText(answer, context.call),
        usage,
        announcedBytes: context.contentLength,
      };
      const edited = context.edits.whole(answer);
      context.sink.begin(context.status, { ...context.headers, 'content-length': String(edited.length) });
      context.sink.end(edited, trailers);
      return WHOLE;
    },
    broken: (fault) => passed?.broken(fault),
    beat: () => undefined,
    progress: () => passed?.progress() ?? whole ?? NO_PROGRESS,
  };
}

/** An answer without a text under a known name, such as one with a call of a tool, counts whole. */
function countAnswerText(answer: Buffer, { endpoint: { protocol } }: RelayCall): number {
  const counts = protocol.stream.textNames.map((name) => countTextBytes(answer, name));
  return counts.reduce((all, count) => all + count, 0) || answer.length;
}

export const NO_PROGRESS: Progress = {
  begun: false,
  delivered: false,
  usage: undefined,
  textBytes: 0,
  announcedBytes: undefined,
};

/** Passes bytes as they arrive: sound, pictures, and JSON that is too long to be held. */
export function newPassedAnswer(context: AnswerContext, isJson: boolean): AnswerBody {
  const { sink, call, contentLength } = context;
  const pieces = isJson ? context.edits.inPieces() : undefined;
  const { imageMarks } = call.endpoint.protocol;
  const images = isJson && imageMarks !== undefined ? countImagesInPieces(imageMarks) : undefined;
  const seeker = isJson ? seekDelivery() : undefined;
  let tail: Buffer = Buffer.alloc(0);
  let bytes = 0;
  const write = (piece: Buffer): void => {
    if (piece.length > 0 && !sink.write(piece)) context.pause();
  };
  sink.begin(context.status, {
    ...context.headers,
    ...(contentLength === undefined || pieces !== undefined ? UNBUFFERED : { 'content-length': String(contentLength) }),
  });
  const readProgress = (): Progress => {
    const usage = isJson ? readUsage(tail, call) : undefined;
    return {
      begun: sink.isReleased(),
      delivered: seeker?.isFound() ?? bytes > 0,
      textBytes: bytes,
      usage: images === undefined ? usage : { ...usage, images: images.count() },
      announcedBytes: contentLength,
    };
  };
  return {
    take: (chunk) => {
      bytes += chunk.length;
      if (bytes > 0) sink.release();
      images?.take(chunk);
      seeker?.take(chunk);
      if (isJson) tail = keepLastBytes(tail, chunk);
      write(pieces?.take(chunk) ?? chunk);
    },
    failure: () => undefined,
    end: (trailers) => {
      if (bytes === 0) return { how: 'failed', fault: NOTHING_CAME };
      const rest = pieces?.rest();
      sink.end(rest?.length === 0 ? undefined : rest, trailers);
      return seeker?.isFound() === false ? { how: 'broken', fault: NOTHING_CAME } : WHOLE;
    },
    broken: () => sink.broken(),
    beat: () => undefined,
    progress: readProgress,
  };
}

/** The members that hold the ordered result in any answer: a text, a link, bytes as text, a vector or a score. */
const TEXT =
  'content|text|reasoning|reasoning_content|thinking|refusal|arguments|transcript|data|result|url|b64_json|audio';
const VECTOR = 'embeddings?|vectors|float|base64';
const BEGINS = new RegExp(
  `"(?:${TEXT}|${VECTOR})"\\s*:\\s*"[^"]|"(?:${VECTOR})"\\s*:\\s*\\[[\\s[]*[-\\d]|score"\\s*:\\s*-?\\d`,
);
/** Searches a JSON answer for the ordered result. The answer is too long to be held, and so is not parsed. */
interface DeliverySeeker {
  take(piece: Buffer): void;
  isFound(): boolean;
}

function seekDelivery(): DeliverySeeker {
  let isFound = false;
  let overlap = '';
  return {
    take: (piece) => {
      if (isFound) return;
      const text = overlap + piece.toString('latin1');
      isFound = BEGINS.test(text);
      overlap = text.slice(-OVERLAP_BYTES);
    },
    isFound: () => isFound,
  };
}

const QUOTE = 0x22;
/** Longer than any pattern of a delivery, and than the name of a member with the space and the quote behind it. */
const OVERLAP_BYTES = 64;

/** Counts the images in a JSON answer that is too long to be held. */
interface ImageCounter {
  take(piece: Buffer): void;
  /** The images that are complete. */
  count(): number;
}

/**
 * An image has a text under one of these quoted names, or under several: the name that occurs most counts. Neither base64
 * nor a URL has a quote within.
 */
function countImagesInPieces(quotedNames: readonly Buffer[]): ImageCounter {
  const begins = new RegExp(`(${quotedNames.map((name) => name.toString()).join('|')})\\s*:\\s*"(?=[^"])`, 'g');
  const images = new Map<string, number>();
  let within: string | undefined;
  let overlap = '';
  /** Returns the position after the beginning of the next image, or the end of the piece if there is none. */
  const findBegin = (piece: Buffer, from: number): number => {
    const text = overlap + piece.toString('latin1', from);
    begins.lastIndex = 0;
    within = begins.exec(text)?.[1];
    const position = from + begins.lastIndex - overlap.length;
    overlap = within === undefined ? text.slice(-OVERLAP_BYTES) : '';
    return within === undefined ? piece.length : position;
  };
  const findEnd = (piece: Buffer, from: number, name: string): number => {
    const quote = piece.indexOf(QUOTE, from);
    if (quote < 0) return piece.length;
    images.set(name, (images.get(name) ?? 0) + 1);
    within = undefined;
    return quote + 1;
  };
  return {
    take: (piece) => {
      for (let at = 0; at < piece.length;)
        at = within === undefined ? findBegin(piece, at) : findEnd(piece, at, within);
    },
    count: () => Math.max(0, ...images.values()),
  };
}

/** A longer answer that reports usage and mentions no fault need not be parsed. */
const PARSED_BYTES_MAX = 8 * 1024;

const NOT_JSON: Fault = { ...NOTHING_CAME };

/** The verdict on a whole JSON answer. */
type AnswerVerdict =
  | { readonly kind: 'delivered' | 'concluded'; readonly usage: Usage | undefined }
  | { readonly kind: 'failed'; readonly fault: Fault };

/** Judges a whole JSON answer: it has the ordered result, the model ended without it, or it is an error. */
function judgeAnswer(bytes: Buffer, call: RelayCall): AnswerVerdict {
  const { delivery } = call.endpoint.protocol;
  const usage = readUsage(bytes, call);
  const isLong = bytes.length > PARSED_BYTES_MAX && usage !== undefined && !mentionsFault(bytes);
  if (isLong && delivery.isByFirst === true && firstDelivers(bytes, delivery)) return { kind: 'delivered', usage };
  const answer = parseLastObject(bytes);
  if (answer === undefined) {
    // it has more than is parsed
    if (isLong && findFirstElement(bytes, delivery.list) !== undefined) return { kind: 'delivered', usage };
    return { kind: 'failed', fault: findFirstLineFault(bytes, delivery) ?? NOT_JSON };
  }
  const fault = findFault(answer, delivery);
  if (fault !== undefined) return { kind: 'failed', fault };
  if (delivery.delivers(answer)) return { kind: 'delivered', usage };
  return delivery.concludes(answer) ? { kind: 'concluded', usage } : { kind: 'failed', fault: toMissingFault(answer) };
}

function firstDelivers(bytes: Buffer, rules: DeliveryRules): boolean {
  const first = findFirstElement(bytes, rules.list);
  return first !== undefined && rules.delivers({ [rules.list]: [parseLastObject(first)] });
}

/** Finds the fault with which lines of JSON begin. */
function findFirstLineFault(bytes: Buffer, rules: DeliveryRules): Fault | undefined {
  const end = bytes.indexOf('\n');
  const first = end < 0 || end > PARSED_BYTES_MAX ? undefined : parseLastObject(bytes.subarray(0, end));
  return first && findFault(first, rules);
}

/** Fewer bytes can be the beginning of anything. */
const BYTES_MIN = 5;
/** Every text is without the characters that control a terminal, and hardly a sound begins without them. */
const CONTROLS = /[\0-\b\u000e-\u001f\u007f]/;

/** Reports whether bytes are words: the beginning of a text, or all of it. */
export function hasWords(bytes: Buffer): boolean {
  if (bytes.length < BYTES_MIN) return false;
  try {
    // the last character can be cut
    return !CONTROLS.test(new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true }));
  } catch {
    return false;
  }
}
