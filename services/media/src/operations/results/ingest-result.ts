import { Problem } from '@reelgate/platform/problem';
import type { Log } from '@reelgate/platform/log';
import type { Span } from '@reelgate/platform/trace/trace';
import { inSpan } from '@reelgate/platform/trace/trace';
import type { ReceivedFile } from '../../blobs/incoming.ts';
import type { JsonPointer } from '../../domain/json-pointer.ts';
import { isResult } from '../../domain/media-rules.ts';
import { isKept } from '../../domain/media-object.ts';
import type { MediaObject } from '../../domain/media-object.ts';
import type { VideoFacts } from '../../domain/media-facts.ts';
import { FetchFault, isTransient } from '../../fetch/fetch-fault.ts';
import type { Fetcher } from '../../fetch/fetcher.ts';
import type { Credential } from '../../fetch/requests/redirects.ts';
import type { ProbeParsers } from '../../probe/probe.ts';
import { beginFetch } from '../fetch-span.ts';
import type { ClaimDeps } from '../blobs/claim-blob.ts';
import { claimFile } from '../blobs/claim-blob.ts';
import type { KeepFileDeps } from '../blobs/keep-file.ts';
import { requireClaimed, mediaBusy } from '../media-refusals.ts';

const RETRY_MS = 5000;

export interface IngestDeps extends KeepFileDeps, ClaimDeps {
  readonly log: Log;
  readonly fetcher: Fetcher;
  readonly parsers: ProbeParsers;
  readonly results: { readonly lifetimeMs: number };
}

export interface IngestOrder {
  readonly accountId: string;
  readonly taskId: string;
  readonly url: string;
  /** The credential for the origin of the address. It is never stored and never logged. */
  readonly credential?: Credential | undefined;
  /** The place of the Base64 string that holds the video, if the answer is JSON. */
  readonly base64At?: JsonPointer | undefined;
  /** The span of the first call for it. Absent: it is not recorded. */
  readonly span?: Span | undefined;
}

/** Stores a finished video. The task identifies it, so a repeated call returns the stored one. */
export async function ingestResult(deps: IngestDeps, order: IngestOrder): Promise<MediaObject> {
  const { accountId, taskId, span } = order;
  const before = await deps.store.findResult(taskId);
  if (before !== undefined) return requireKept(before, deps.clock.now());

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

/** An ended result is not stored again. */
function requireKept(result: MediaObject, now: number): MediaObject {
  if (isKept(result, now)) return result;
  throw new Problem({ kind: 'gone', reason: 'result_expired', message: 'the result of this task is no longer stored' });
}

async function withResult<T>(
  { fetcher, log }: IngestDeps,
  order: IngestOrder,
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
      ? new Problem({
          kind: 'unavailable',
          reason: 'result_unreachable',
          message: `the result ${error.said}`,
          retryAfterMs: Math.max(RETRY_MS, error.askedMs),
          cause: error,
        })
      : resultRefused(error.said, error);
  }
}

async function readVideoFacts({ parsers }: IngestDeps, accountId: string, { path }: ReceivedFile): Promise<VideoFacts> {
  const outcome = await parsers.probe(path, { accountId });
  if ('fault' in outcome) throw resultRefused(`is not a readable video (${outcome.fault})`);
  if (!isResult(outcome.facts)) throw resultRefused(`must be a playable video; it is ${outcome.facts.mediaType}`);
  return outcome.facts;
}

function resultRefused(said: string, cause?: unknown): Problem {
  return new Problem({ kind: 'invalid', reason: 'result_refused', message: `the result ${said}`, cause });
}
