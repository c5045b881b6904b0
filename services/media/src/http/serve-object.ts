import type { IncomingMessage, ServerResponse } from 'node:http';
import { buildFileName, isKept, readMediaType } from '../domain/media-object.ts';
import type { MediaObject, Picture } from '../domain/media-object.ts';
import type { MediaStore } from '../store/media-store.ts';
import { NOT_FOUND, NO_PICTURE, RESULT_EXPIRED, refuse } from './refuse.ts';
import { sendBlob } from './send-blob.ts';
import type { SendDeps } from './send-blob.ts';

const CACHE_SECONDS_MAX = 3600;
/** The lifetime of an address in the bucket. Each request creates a new one. */
const REDIRECT_SECONDS_MAX = 3600;
const FOUND = 302;

export interface ServeDeps extends SendDeps {
  readonly store: MediaStore;
  /** Returns the thumbnail of a result, which is drawn first if necessary, or undefined if it cannot be drawn. */
  readonly thumbnailOf: (result: MediaObject) => Promise<MediaObject | undefined>;
  readonly results: {
    /** True if clients are redirected to the bucket for results, if there is one. */
    readonly redirect: boolean;
  };
}

export interface ServeOrder {
  readonly object: string;
  /** A picture of a result instead of the result. */
  readonly variant?: Picture | undefined;
  /** The name under which a browser saves it, by default the object's id. */
  readonly fileName?: string | undefined;
  /** True if the bytes come from here, even if results are in a bucket. */
  readonly direct?: boolean | undefined;
  /** The end of the access in milliseconds since 1970, if it is before the end of the object. */
  readonly expiresAt?: number | undefined;
}

/** Answers a GET or HEAD with an object's bytes, with ranges and conditions. The caller has checked the access. */
export async function serveObject(
  deps: ServeDeps,
  request: IncomingMessage,
  response: ServerResponse,
  order: ServeOrder,
): Promise<void> {
  const found = await deps.store.find(order.object);
  if (found === undefined) {
    refuse(request, response, NOT_FOUND);
    return;
  }
  const now = deps.clock.now();
  const expiresAt = Math.min(found.expiresAt, order.expiresAt ?? found.expiresAt);
  if (!isKept(found, now) || expiresAt <= now) {
    refuse(request, response, RESULT_EXPIRED);
    return;
  }
  const shown = order.variant === undefined ? found : await findPicture(deps, order.variant, found);
  if (shown === undefined || !isKept(shown, now)) {
    refuse(request, response, order.variant === undefined ? NOT_FOUND : NO_PICTURE[order.variant]);
    return;
  }
  await serveKept(deps, request, response, {
    found: shown,
    fileName: buildFileName(shown, order.fileName),
    secondsLeft: Math.max(1, Math.floor((expiresAt - now) / 1000)),
    direct: order.direct === true,
  });
}

async function findPicture(
  { store, thumbnailOf }: ServeDeps,
  picture: Picture,
  result: MediaObject,
): Promise<MediaObject | undefined> {
  return picture === 'thumbnail' ? thumbnailOf(result) : store.findPicture(picture, result.taskId);
}

async function serveKept(
  deps: ServeDeps,
  request: IncomingMessage,
  response: ServerResponse,
  served: ServedObject,
): Promise<void> {
  const elsewhere = await findBucketAddress(deps, request, served);
  if (elsewhere !== undefined) {
    response.writeHead(FOUND, { location: elsewhere, 'cache-control': 'no-store', 'content-length': '0' }).end();
    return;
  }
  setHeaders(response, served);
  await sendBlob(deps, served.found.blob, request, response);
}

interface ServedObject {
  readonly found: MediaObject;
  readonly fileName: string;
  readonly secondsLeft: number;
  readonly direct: boolean;
}

async function findBucketAddress(
  { blobs, results }: ServeDeps,
  request: IncomingMessage,
  { found, fileName, secondsLeft, direct }: ServedObject,
): Promise<string | undefined> {
  if (direct || !results.redirect || found.purpose !== 'result') return undefined;
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
  return blobs.linkTo(found.blob.key, {
    method,
    fileName,
    mediaType: readMediaType(found),
    secondsLeft: Math.min(secondsLeft, REDIRECT_SECONDS_MAX),
  });
}

/** No header of the bytes' origin is passed on. A page that is disguised as media gets no rights. */
function setHeaders(response: ServerResponse, { found, fileName, secondsLeft }: ServedObject): void {
  const headers = {
    'Content-Type': readMediaType(found),
    'Content-Disposition': `inline; filename="${fileName}"`,
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cache-Control': `private, max-age=${Math.min(CACHE_SECONDS_MAX, secondsLeft)}`,
    ETag: `"${found.blob.sha256}"`,
    'Last-Modified': new Date(found.createdAt).toUTCString(),
  };
  for (const [header, value] of Object.entries(headers)) response.setHeader(header, value);
}
