import type { Problem } from '@reelgate/platform/problem';
import type { ByteSpan, OpenedBytes, MediaBytes } from '../../clients/media-bytes.ts';
import { getTask, pollAfterMs } from '../reads/read-tasks.ts';
import { isTerminal } from '../../domain/task.ts';
import type { Task } from '../../domain/task.ts';
import { refuse } from '../../refusals.ts';
import { signPath, linkKey } from '@reelgate/platform/signatures';
import type { Foundation } from '@reelgate/platform/foundation';
import type { Secret } from '@reelgate/platform/secret';
import type { StoreDeps } from '../deps.ts';
import type { UploadDeps } from './upload-media.ts';
import { newStreamPermits } from './content-stream-permits.ts';
import type { StreamPermits } from './content-stream-permits.ts';

/** The reads of results at one time. Each holds a connection and about a quarter of a megabyte. */
const READS = { what: 'reads of content', total: 512, perAccount: 128 };
const UPLOADS = { what: 'uploads', total: 128, perAccount: 16 };

/** The dependencies of the operations on the bytes and the links of results and uploads. */
export interface ContentDeps extends StoreDeps, UploadDeps {
  readonly reads: StreamPermits;
  readonly publicUrl: string;
  readonly linkKey: Secret;
}

export function newContentDeps(
  { clock, log, publicUrl, signingKey }: Foundation,
  { store }: StoreDeps,
  bytes: MediaBytes,
): ContentDeps {
  return {
    store,
    clock,
    log,
    bytes,
    publicUrl,
    linkKey: linkKey(signingKey),
    reads: newStreamPermits(READS),
    uploads: newStreamPermits(UPLOADS),
  };
}

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
  return refuse('service_unavailable', {
    message: 'the bytes broke off; call again with the offset of the next byte',
    retryAfterMs: RESUME_MS,
    cause,
  });
}

function badSpan(field: string, message: string): Problem {
  return refuse('invalid_request', { field, message });
}

/** The stored video of a completed task. */
export interface FinishedVideo {
  readonly taskId: string;
  readonly object: string;
  readonly bytes: number;
  readonly mediaType: string;
  /** Milliseconds since 1970. Undefined if it has no end. */
  readonly expiresAt: number | undefined;
}

/** The video of a task, or the refusal that the public content route gives. */
function requireFinishedVideo(task: Task, now: number): FinishedVideo {
  const { id, state, result, expiresAt, order } = task;
  if (!isTerminal(state))
    throw notCompleted(`the task is ${state}; it has bytes only once it is completed`, pollAfterMs(task, now));
  if (result === undefined) throw notCompleted(`the task is ${state} and has no result`);
  if (expiresAt !== undefined && expiresAt <= now) throw resultExpired();
  if (result.object === undefined || result.object === '') throw noBytes(order.kind);
  const { object, bytes = 0, mediaType = 'video/mp4' } = result;
  return { taskId: id, object, bytes, mediaType, expiresAt };
}

function resultExpired(): Problem {
  return refuse('result_expired');
}

function notCompleted(message: string, retryAfterMs?: number): Problem {
  return refuse('task_not_completed', { message, retryAfterMs });
}

function noBytes(kind: string): Problem {
  return refuse('invalid_request', {
    field: 'task_id',
    message: `must name a task with a video; the result of a ${kind} task is a prompt, which GetTask returns`,
  });
}

const LIFETIME_MS = { min: 1000, max: 24 * 3_600_000, otherwise: 3_600_000 };

interface LinkRequest {
  readonly accountId: string;
  readonly taskId: string;
  /** The default is an hour. */
  readonly lifetimeMs: number | undefined;
}

interface ContentLink {
  readonly url: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Makes a URL of a video that needs no key. It is not stored: its signature holds its end. */
export async function signContentLink(
  deps: ContentDeps,
  { accountId, taskId, lifetimeMs = LIFETIME_MS.otherwise }: LinkRequest,
): Promise<ContentLink> {
  assertLifetime(lifetimeMs);
  const now = deps.clock.now();
  const { object, expiresAt = Infinity } = requireFinishedVideo(await getTask(deps, accountId, taskId), now);
  const end = Math.floor(Math.min(now + lifetimeMs, expiresAt) / 1000);
  // less than a second is left of the video
  if (end * 1000 <= now) throw resultExpired();
  const path = `/ximg/${object}.mp4`;
  return { url: `${deps.publicUrl}${path}?${signPath(deps.linkKey, path, end)}`, expiresAt: end * 1000 };
}

function assertLifetime(lifetimeMs: number): void {
  if (lifetimeMs >= LIFETIME_MS.min && lifetimeMs <= LIFETIME_MS.max) return;
  throw refuse('invalid_request', {
    field: 'lifetime',
    message: `must be from 1 s to ${LIFETIME_MS.max / 1000} s; it is ${lifetimeMs / 1000} s`,
  });
}
