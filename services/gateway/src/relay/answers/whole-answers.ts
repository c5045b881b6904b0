import { countTextBytes } from '../../json-bytes/json-members.ts';
import { NOTHING_CAME } from '../protocols/faults.ts';
import { UNBUFFERED, WHOLE } from './answer-body.ts';
import type { AnswerBody, AnswerContext, Progress } from './answer-body.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import { hasWords } from './has-words.ts';
import { countImagesInPieces } from './count-images.ts';
import { judgeAnswer, NOT_JSON } from './judge-answer.ts';
import { keepLastBytes, readUsage } from './usage-in-bytes.ts';

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
    broken: () => {
      sink.broken();
    },
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
/** Longer than any of the patterns. */
const OVERLAP_BYTES = 64;

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
