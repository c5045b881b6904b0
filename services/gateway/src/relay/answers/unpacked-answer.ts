import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import type { AnswerBody, AnswerContext, Progress } from './answer-body.ts';
import { heldAnswer } from './held-answer.ts';
import { passedAnswer } from './passed-answer.ts';

/** A longer one passes as it came, unread. */
const PACKED_BYTES_MAX = 1024 * 1024;
const UNPACKED_BYTES_MAX = 16 * 1024 * 1024;

type Unpack = (packed: Buffer, bounds: { readonly maxOutputLength: number }) => Buffer;
const UNPACK: ReadonlyMap<string, Unpack> = new Map<string, Unpack>([['gzip', gunzipSync], ['x-gzip', gunzipSync], ['deflate', inflateSync], ['br', brotliDecompressSync]]);
const NOTHING: Progress = { begun: false, textBytes: 0, usage: undefined };

/** JSON that came compressed although that was not asked for: it goes on unpacked, because its usage and its model have to be seen. */
export function unpackedAnswer(context: AnswerContext, encoding: string): AnswerBody {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let inner: AnswerBody | undefined;
  const open = (body: AnswerBody, pieces: readonly Buffer[]): AnswerBody => {
    inner = body;
    for (const piece of pieces) body.take(piece);
    return body;
  };
  return {
    take: (chunk) => {
      if (inner !== undefined) {
        inner.take(chunk);
        return;
      }
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > PACKED_BYTES_MAX) open(passedAnswer(context, false), chunks.splice(0));
    },
    end: (trailers) => {
      const plain = inner === undefined ? unpacked(Buffer.concat(chunks), encoding) : undefined;
      const body = inner ?? (plain === undefined ? open(passedAnswer(context, false), chunks) : open(heldAnswer(plainContext(context)), [plain]));
      body.end(trailers);
    },
    broken: (fault) => inner?.broken(fault),
    beat: () => undefined,
    progress: () => inner?.progress() ?? NOTHING,
  };
}

function unpacked(packed: Buffer, encoding: string): Buffer | undefined {
  try {
    return UNPACK.get(encoding)?.(packed, { maxOutputLength: UNPACKED_BYTES_MAX });
  } catch {
    return undefined;
  }
}

function plainContext(context: AnswerContext): AnswerContext {
  const headers = Object.fromEntries(Object.entries(context.headers).filter(([name]) => name.toLowerCase() !== 'content-encoding'));
  return { ...context, headers, contentLength: undefined };
}
