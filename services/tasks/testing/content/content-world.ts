import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Clock } from '@reelgate/platform/clock';
import { silentLog } from '@reelgate/platform/log';
import { Problem } from '@reelgate/platform/problem';
import { Secret } from '@reelgate/platform/secret';
import type { ByteSpan, UploadRequest, UploadStore } from '../../src/clients/media-bytes.ts';
import type { Order } from '../../src/domain/order.ts';
import type { Report } from '../../src/domain/report.ts';
import type { ContentDeps } from '../../src/operations/content/read-content.ts';
import { newStreamPermits } from '../../src/operations/content/content-stream-permits.ts';
import { applyReport } from '../../src/operations/polls/apply-report.ts';
import type { World } from '../open-world.ts';

export const PUBLIC_URL = 'https://gateway.example';
export const SIGNING_KEY = new Secret('signing key');
/** How many bytes the store gives at a time. */
const CHUNK_BYTES = 100_000;
const PERMITS = { what: 'reads of content', total: 3, perAccount: 2 };
/** The bounds of every upload. */
export const UPLOAD_BYTES_MAX = 200_000;
export const UPLOAD_LIFETIME_MS = 3_600_000;

/** What the store has of uploads. */
export interface KeptUploads {
  readonly objects: Map<string, Buffer>;
  readonly reserved: Map<string, UploadRequest>;
  readonly begun: UploadRequest[];
}

/** Stores an upload when it is whole, as media does. */
function uploadsInto({ objects, reserved, begun }: KeptUploads, clock: Clock): UploadStore {
  return {
    beginUpload: async (order) => {
      begun.push(order);
      if (order.declaredType === 'text/html')
        throw new Problem({ kind: 'invalid', reason: 'invalid_media', message: 'must be image/…; it is text/html' });
      const upload = `up_${begun.length}`;
      reserved.set(upload, order);
      return { upload, bytesMax: order.bytes ?? UPLOAD_BYTES_MAX };
    },
    put: async (stream, { upload }) => {
      const bytes = Buffer.concat((await stream.toArray()) as Buffer[]);
      const object = `inl_${upload}`;
      objects.set(object, bytes);
      reserved.delete(upload);
      return { object, bytes: bytes.byteLength, expiresAt: clock.now() + UPLOAD_LIFETIME_MS };
    },
    endUpload: async (upload) => void reserved.delete(upload),
    remove: async (object) => void objects.delete(object),
  };
}

/** A store with one object, and a task service that reads it. */
export interface ContentWorld {
  readonly deps: ContentDeps;
  readonly video: Buffer;
  readonly sha256: string;
  /** The parts that were opened. */
  readonly opened: (ByteSpan & { readonly object: string; readonly stream: Readable })[];
  readonly kept: KeptUploads;
  /** How many bytes were read from the store. */
  read(): number;
  /** The store breaks off after this many bytes of a part, with an error or with an early end. */
  breakAfter(bytes: number, how: 'error' | 'end'): void;
  /** The object is no longer stored. */
  lose(): void;
  /** A task of the account, after a report of its upstream. */
  task(report?: Report, order?: Order): Promise<string>;
}

export const SUCCEEDED: Report = { phase: 'succeeded', status: 'succeeded', url: 'https://cdn.vendor.example/1.mp4' };

export function contentWorld(world: World, bytes = 250_001): ContentWorld {
  const video = Buffer.alloc(bytes);
  for (let index = 0; index < bytes; index += 1) video[index] = (index * 31 + (index >> 8)) % 251;
  const sha256 = createHash('sha256').update(video).digest('hex');
  const opened: ContentWorld['opened'] = [];
  const kept: ContentWorld['kept'] = { objects: new Map(), reserved: new Map(), begun: [] };
  let read = 0;
  let fault: { readonly bytes: number; readonly how: 'error' | 'end' } | undefined;
  let isLost = false;
  world.media.resultBytes = bytes;

  function* chunksOf({ offset, length }: ByteSpan): Generator<Buffer> {
    const { bytes: most = length, how = 'end' } = fault ?? {};
    for (let at = 0; at < length; at += CHUNK_BYTES) {
      if (at >= most) {
        if (how === 'error') throw new Error('the disk at /data/blobs is broken');
        return;
      }
      const chunk = video.subarray(offset + at, offset + Math.min(at + CHUNK_BYTES, length));
      read += chunk.byteLength;
      yield chunk;
    }
  }

  return {
    video,
    sha256,
    opened,
    kept,
    read: () => read,
    breakAfter: (most, how) => {
      fault = { bytes: most, how };
    },
    lose: () => {
      isLost = true;
    },
    task: async (report, order) => {
      const { task } = await world.create(order);
      if (report !== undefined) await applyReport(world.deps, (await world.deps.store.find(task.id))!, report);
      return task.id;
    },
    deps: {
      store: world.deps.store,
      clock: world.clock,
      log: silentLog,
      publicUrl: PUBLIC_URL,
      linkKey: SIGNING_KEY,
      reads: newStreamPermits(PERMITS),
      uploads: newStreamPermits({ ...PERMITS, what: 'uploads' }),
      bytes: {
        read: async () => video,
        open: async (object, span) => {
          if (isLost) return undefined;
          const stream = Readable.from(chunksOf(span), { objectMode: false, highWaterMark: 1 });
          opened.push({ object, stream, ...span });
          return { stream, sha256 };
        },
        ...uploadsInto(kept, world.clock),
      },
    },
  };
}
