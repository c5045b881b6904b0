import { isProblem } from '@reelgate/platform/problem';
import type { Problem } from '@reelgate/platform/problem';
import type { Log } from '@reelgate/platform/log';
import type { Span } from '@reelgate/platform/trace/trace';
import { inSpan } from '@reelgate/platform/trace/trace';
import type { ReceivedFile } from '../../blobs/incoming.ts';
import type { JsonPointer } from '../../domain/json-pointer.ts';
import { isResult } from '../../domain/media-rules.ts';
import { isKept } from '../../domain/media-object.ts';
import type { MediaObject } from '../../domain/media-object.ts';
import type { ImageFacts, VideoFacts } from '../../domain/media-facts.ts';
import { FetchFault, isTransient } from '../../domain/fetch-fault.ts';
import type { Fetcher } from '../../fetch/fetcher.ts';
import type { Credential } from '../../fetch/requests/redirects.ts';
import type { ProbeParsers } from '../../probe/probe.ts';
import { beginFetch } from '../fetch-span.ts';
import type { ClaimDeps, KeepFileDeps } from '../blobs/keep-file.ts';
import { claimFile } from '../blobs/keep-file.ts';
import { requireClaimed, mediaBusy } from '../media-refusals.ts';
import { refuse } from '../../refusals.ts';

const RETRY_MS = 5000;
/** A picture of 8K without compression has half of that. */
const LAST_FRAME_BYTES_MAX = 64 * 1024 * 1024;
/** The time after the video is stored for which a picture that cannot be reached holds its task up. */
const LAST_FRAME_MS = 10 * 60_000;

export interface IngestDeps extends KeepFileDeps, ClaimDeps {
  readonly log: Log;
  readonly fetcher: Fetcher;
  readonly parsers: ProbeParsers;
  readonly results: { readonly lifetimeMs: number };
}

/** A file of a task that is fetched from its upstream. */
interface FetchOrder {
  readonly accountId: string;
  readonly taskId: string;
  readonly url: string;
  /** The span of the first call for it, undefined if it is not recorded. */
  readonly span?: Span | undefined;
}

export interface IngestOrder extends FetchOrder {
  /** The credential for the origin of the address. It is never stored and never logged. */
  readonly credential?: Credential | undefined;
  /** The place of the Base64 string that holds the video, if the answer is JSON. */
  readonly base64At?: JsonPointer | undefined;
  /** The address of the picture of the last frame, if it is kept too. */
  readonly lastFrameUrl?: string | undefined;
}

interface PictureOrder extends FetchOrder {
  readonly pictureBytesMax: number;
}

/**
 * Stores a finished video, and the picture of its last frame if there is one. The task identifies both, so a repeated
 * call returns the stored video and fetches only the missing part.
 */
export async function ingestResult(deps: IngestDeps, order: IngestOrder): Promise<MediaObject> {
  const before = await deps.store.findResult(order.taskId);
  const result = before === undefined ? await storeResult(deps, order) : requireKept(before, deps.clock.now());
  if (order.lastFrameUrl !== undefined) await keepLastFrame(deps, toPictureOrder(order, order.lastFrameUrl), result);
  return result;
}

async function storeResult(deps: IngestDeps, order: IngestOrder): Promise<MediaObject> {
  const { accountId, taskId, span } = order;
  deps.parsers.assertReady();
  return withResult(deps, order, async (file) => {
    try {
      const facts = await inSpan(span, 'probe', {}, () => readVideoFacts(deps, accountId, file));
      const { lifetimeMs } = deps.results;
      const claim = { accountId, taskId, purpose: 'result', reference: '', facts, lifetimeMs } as const;
      const result = requireClaimed(await inSpan(span, 'keep', {}, () => claimFile(deps, file, claim)));
      deps.log.info({ taskId, object: result.id, bytes: file.bytes }, 'a result was stored');
      return requireKept(result, deps.clock.now());
    } catch (error) {
      // a file that was kept is gone
      await file.discard();
      throw error;
    }
  });
}

/** No credential of the video goes with the request for its picture. */
function toPictureOrder({ accountId, taskId, span }: IngestOrder, url: string): PictureOrder {
  return { accountId, taskId, span, url, pictureBytesMax: LAST_FRAME_BYTES_MAX };
}

/** An ended result is not stored again. */
function requireKept(result: MediaObject, now: number): MediaObject {
  if (isKept(result, now)) return result;
  throw refuse('result_expired');
}

async function withResult<T>(
  { fetcher, log }: IngestDeps,
  order: IngestOrder | PictureOrder,
  use: (file: ReceivedFile) => Promise<T>,
): Promise<T> {
  const fetching = beginFetch(order.span);
  try {
    return await fetcher.withResult(order, (file) => {
      fetching?.arrived(file);
      return use(file);
    });
  } catch (error) {
    fetching?.failed(error);
    if (!(error instanceof FetchFault)) throw error;
    if (error.code === 'busy') throw mediaBusy(error.said, error);
    log.warn({ taskId: order.taskId, code: error.code, err: error }, 'a result was not fetched');
    throw isTransient(error)
      ? refuse('result_unreachable', {
          message: `the result ${error.said}`,
          retryAfterMs: Math.max(RETRY_MS, error.askedMs),
          cause: error,
        })
      : resultRefused(error.said, error);
  }
}

/**
 * Stores the picture of the last frame. No fault of it costs the client the video: a picture that is refused, or that
 * stays out of reach, is left out. Until then it rejects with `result_unreachable` or `media_busy`.
 */
async function keepLastFrame(deps: IngestDeps, order: PictureOrder, result: MediaObject): Promise<void> {
  const { accountId, taskId, span } = order;
  const { store, clock, log } = deps;
  if ((await store.findPicture('last_frame', taskId)) !== undefined) return;
  try {
    await withResult(deps, order, async (file) => {
      try {
        const facts = await inSpan(span, 'probe', {}, () => readPictureFacts(deps, accountId, file));
        const lifetimeMs = result.expiresAt - clock.now();
        const claim = { accountId, taskId, purpose: 'last_frame', reference: '', facts, lifetimeMs } as const;
        await inSpan(span, 'keep', {}, () => claimFile(deps, file, claim));
      } finally {
        await file.discard();
      }
    });
  } catch (error) {
    if (!isProblem(error)) throw error;
    if (error.kind === 'unavailable' && clock.now() - result.createdAt < LAST_FRAME_MS) throw error;
    log.warn({ taskId, err: error }, 'the picture of the last frame was left out');
  }
}

async function readPictureFacts(
  { parsers }: IngestDeps,
  accountId: string,
  { path }: ReceivedFile,
): Promise<ImageFacts> {
  const outcome = await parsers.probe(path, { accountId });
  if ('fault' in outcome) throw resultRefused(`is not a readable picture (${outcome.fault})`);
  if (outcome.facts.family !== 'image') throw resultRefused(`must be a picture; it is ${outcome.facts.mediaType}`);
  return outcome.facts;
}

async function readVideoFacts({ parsers }: IngestDeps, accountId: string, { path }: ReceivedFile): Promise<VideoFacts> {
  const outcome = await parsers.probe(path, { accountId });
  if ('fault' in outcome) throw resultRefused(`is not a readable video (${outcome.fault})`);
  if (!isResult(outcome.facts)) throw resultRefused(`must be a playable video; it is ${outcome.facts.mediaType}`);
  return outcome.facts;
}

function resultRefused(said: string, cause?: unknown): Problem {
  return refuse('result_refused', { message: `the result ${said}`, cause });
}
