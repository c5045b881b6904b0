import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { silentLog } from '@reelgate/platform/log';
import { Secret } from '@reelgate/platform/secret';
import type { ByteSpan } from '../../src/clients/media-bytes.ts';
import type { Order } from '../../src/domain/order.ts';
import type { Report } from '../../src/domain/report.ts';
import type { ContentDeps } from '../../src/operations/content/content-deps.ts';
import { openStreamPermits } from '../../src/operations/content/stream-permits.ts';
import { applyReport } from '../../src/operations/polls/apply-report.ts';
import type { World } from '../open-world.ts';

export const PUBLIC_URL = 'https://gateway.example';
export const SIGNING_KEY = new Secret('signing key');
/** How many bytes the store gives at a time. */
const CHUNK_BYTES = 100_000;
const PERMITS = { what: 'reads of content', total: 3, perAccount: 2 };

/** A store with one object, and a task service that reads it. */
export interface ContentWorld {
  readonly deps: ContentDeps;
  readonly video: Buffer;
  readonly sha256: string;
  /** The parts that were opened. */
  readonly opened: (ByteSpan & { readonly object: string; readonly stream: Readable })[];
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
      signingKey: SIGNING_KEY,
      reads: openStreamPermits(PERMITS),
      bytes: {
        read: async () => video,
        open: async (object, span) => {
          if (isLost) return undefined;
          const stream = Readable.from(chunksOf(span), { objectMode: false, highWaterMark: 1 });
          opened.push({ object, stream, ...span });
          return { stream, sha256 };
        },
      },
    },
  };
}
