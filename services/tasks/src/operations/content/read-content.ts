import { Problem } from '@reelgate/platform/problem';
import type { ByteSpan, OpenedBytes } from '../../clients/media-bytes.ts';
import { getTask } from '../reads/read-tasks.ts';
import type { ContentDeps } from './content-deps.ts';
import { requireFinishedVideo, resultExpired } from './finished-video.ts';
import type { FinishedVideo } from './finished-video.ts';

/** The most bytes of a piece. */
const PIECE_BYTES = 64 * 1024;
const RESUME_MS = 1000;

export interface ContentRequest {
  readonly accountId: string;
  readonly taskId: string;
  readonly offset: bigint;
  /** Zero: to the end. */
  readonly length: bigint;
}

export interface ContentFacts extends ByteSpan {
  readonly video: FinishedVideo;
  readonly sha256: string;
}

export type ContentPart = { readonly facts: ContentFacts } | { readonly data: Uint8Array };

/**
 * Yields the facts of a video and then its bytes. It reads the next piece from the store only when the last one was
 * taken, so a slow reader costs one read buffer. A read that breaks off can go on at the next byte: a stored video
 * never changes.
 */
export async function* readContent(
  deps: ContentDeps,
  request: ContentRequest,
  signal: AbortSignal,
): AsyncGenerator<ContentPart> {
  const task = await getTask(deps, request.accountId, request.taskId);
  const video = requireFinishedVideo(task, deps.clock.now());
  const span = toByteSpan(request, video);
  const giveBack = deps.reads.take(request.accountId);
  try {
    const opened = await deps.bytes.open(video.object, span, signal);
    if (opened === undefined) throw resultExpired();
    // an error before the first piece is wanted is thrown when that piece is wanted
    opened.stream.on('error', () => undefined);
    try {
      yield { facts: { video, sha256: opened.sha256, ...span } };
      if (span.length > 0) yield* streamPieces(deps, video, opened, span.length);
    } finally {
      opened.stream.destroy();
    }
  } finally {
    giveBack();
  }
}

function toByteSpan({ offset, length }: ContentRequest, { bytes }: FinishedVideo): ByteSpan {
  if (offset < 0n || offset > BigInt(bytes))
    throw badSpan('offset', `must be from 0 to ${bytes}, the bytes of the video; it is ${offset}`);
  if (length < 0n) throw badSpan('length', `must be at least 0; it is ${length}`);
  const left = bytes - Number(offset);
  return { offset: Number(offset), length: length === 0n || length > BigInt(left) ? left : Number(length) };
}

async function* streamPieces(
  { log }: ContentDeps,
  { taskId }: FinishedVideo,
  { stream }: OpenedBytes,
  length: number,
): AsyncGenerator<{ readonly data: Uint8Array }> {
  let left = length;
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      for (let at = 0; at < chunk.byteLength; at += PIECE_BYTES) {
        const data = chunk.subarray(at, Math.min(at + PIECE_BYTES, at + left));
        left -= data.byteLength;
        yield { data };
      }
    }
    if (left > 0) throw new Error(`the store gave ${left} bytes too few`);
  } catch (error) {
    log.warn({ taskId, err: error }, 'the bytes of a result broke off');
    throw brokeOff(error);
  }
}

function brokeOff(cause: unknown): Problem {
  return new Problem({
    kind: 'unavailable',
    reason: 'service_unavailable',
    message: 'the bytes broke off; call again with the offset of the next byte',
    retryAfterMs: RESUME_MS,
    cause,
  });
}

function badSpan(field: string, message: string): Problem {
  return new Problem({ kind: 'invalid', reason: 'invalid_request', field, message });
}
