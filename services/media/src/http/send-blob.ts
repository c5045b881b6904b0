import type { Stats } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import send from 'send';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { AnswerClosed, writeThrough } from '@reelgate/platform/http/write-response';
import type { BlobStore, ByteRange } from '../blobs/blob-store.ts';
import { storageUnavailable } from '../blobs/storage-faults.ts';
import { BROKEN, NOT_FOUND, refuse, unavailable } from './refuse.ts';
import type { Refusal } from './refuse.ts';

const OPTIONS = { cacheControl: false, etag: false, lastModified: false } as const;

const ALL = 'bytes=0-';
const SUFFIX = /^bytes=\s*-(\d+)\s*$/;

export interface SendDeps {
  readonly blobs: BlobStore;
  readonly log: Log;
  readonly clock: Clock;
}

export interface SentBlob {
  readonly key: string;
  readonly bytes: number;
}

/**
 * Answers with a blob, or the requested part of it, under the conditions of the request. The package `send` has the
 * rules and gets the size from the database. The store opens the bytes, so all stores are served alike.
 */
export async function sendBlob(
  deps: SendDeps,
  { key, bytes }: SentBlob,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // the client may have left while the object was looked up
  if (response.closed || response.destroyed) return;
  // fetch adds `no-cache` to every condition, which is meant for caches, while here the condition counts
  delete request.headers['cache-control'];
  if (isLongSuffix(request.headers.range, bytes)) request.headers.range = ALL;
  await new Promise<void>((resolve) => {
    response.once('close', () => resolve());
    const sender = send(request, '/', OPTIONS).on('error', (error: SendError) => {
      const range = error.headers?.['Content-Range'];
      refuse(request, response, {
        ...(REFUSALS[error.status ?? 500] ?? BROKEN),
        ...(range === undefined ? {} : { headers: { 'content-range': range } }),
      });
    });
    const stream = (_path: string, { start, end }: ByteRange): void => {
      void pump(deps, { key, range: end - start + 1 >= bytes ? undefined : { start, end } }, request, response);
    };
    Object.assign(sender, { res: response, stream }).send('/', sizeOnly(bytes));
  });
}

/** A suffix range that is longer than the file is the whole file (RFC 9110, 14.1.2). The package refuses it. */
function isLongSuffix(range: string | undefined, bytes: number): boolean {
  return Number(SUFFIX.exec(range ?? '')?.[1] ?? 0) > bytes;
}

/** The part of `fs.Stats` that the package needs if it sets no dates. */
function sizeOnly(size: number): Stats {
  return { size } as unknown as Stats;
}

interface SendError extends Error {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const REFUSALS: Readonly<Record<number, Refusal>> = {
  404: NOT_FOUND,
  412: { status: 412, code: 'precondition_failed', message: 'the condition of the request is not met' },
  416: { status: 416, code: 'range_not_satisfiable', message: 'the range is outside of the bytes' },
};

async function pump(
  { blobs, log, clock }: SendDeps,
  { key, range }: { readonly key: string; readonly range: ByteRange | undefined },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const pieces = await blobs.pieces(key, range);
    if (pieces === undefined) {
      log.error({ key }, 'the bytes of an object are not there');
      refuse(request, response, NOT_FOUND);
    } else await writeThrough(pieces, response, { clock });
  } catch (error) {
    if (error instanceof AnswerClosed) return;
    log.error({ key, err: error }, 'the bytes of an object could not be read');
    refuse(request, response, unavailable(storageUnavailable(error)));
  }
}
