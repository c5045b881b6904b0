import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Problem } from '@reelgate/platform/problem';
import type { Client } from '@reelgate/platform/rpc/service';
import {
  IngestResultResponseSchema,
  LinkObjectResponseSchema,
  RemovePrivateResponseSchema,
  RemoveResultResponseSchema,
  RemoveStagedResponseSchema,
  SendWebhookResponseSchema,
  StageMediaResponseSchema,
} from '@reelgate/proto/media/v1/media_service';
import type { MediaService } from '@reelgate/proto/media/v1/media_service';
import type { MediaBytes } from '@reelgate/tasks/app';
import type { Draws } from './draws.ts';
import type { Faults } from './faults.ts';
import type { Scheduler } from './scheduler.ts';

const FETCH_MS = { least: 20, most: 600 };
const SLOW_MS_MAX = 20_000;
const FAULTY_FETCHES = 0.08;
const KEPT_MS = 7 * 24 * 3600 * 1000;
const VIDEO_BYTES = 1_000_000n;

export interface MediaOptions {
  readonly scheduler: Scheduler;
  readonly draws: Draws;
  readonly faults: Faults;
}

/**
 * The media service as the tasks service sees it: it keeps a result once, after a time, or it is away. The simulated
 * orders have no references, so nothing is staged, and no webhook is sent.
 */
export function simulatedMedia({ scheduler, draws, faults }: MediaOptions): Client<typeof MediaService> {
  const kept = new Map<string, number>();
  let fetches = 0;
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      scheduler.after(ms, scheduler.current(), resolve);
    });
  return {
    ingestResult: async ({ taskId = '', url = '' }) => {
      fetches += 1;
      const name = `media fetch ${fetches}`;
      const most = faults.happens('slow media', name, FAULTY_FETCHES) ? SLOW_MS_MAX : FETCH_MS.most;
      await pause(draws.whole(`${name} ms`, FETCH_MS.least, most));
      if (faults.happens('media away', name, FAULTY_FETCHES))
        throw new Problem({ kind: 'unavailable', reason: 'service_unavailable', message: 'the media service is away' });
      const expiresAt = kept.get(taskId) ?? scheduler.now() + KEPT_MS;
      kept.set(taskId, expiresAt);
      return create(IngestResultResponseSchema, {
        result: {
          object: `result-of-${taskId}`,
          mediaType: 'video/mp4',
          bytes: VIDEO_BYTES,
          width: 1280,
          height: 720,
          durationMs: BigInt(new URL(url).searchParams.get('seconds') ?? 0) * 1000n,
          frameRate: 24,
          expiresAt: timestampFromMs(expiresAt),
        },
      });
    },
    removeResult: async ({ taskId = '' }) => create(RemoveResultResponseSchema, { removed: kept.delete(taskId) }),
    removeStaged: async () => create(RemoveStagedResponseSchema),
    removePrivate: async () => create(RemovePrivateResponseSchema),
    stageMedia: async () => create(StageMediaResponseSchema),
    linkObject: async () => create(LinkObjectResponseSchema),
    sendWebhook: async () => create(SendWebhookResponseSchema),
  };
}

const NO_BYTES = 'the simulated orders have no bytes';

/** No order of the simulation has bytes. */
export const simulatedBytes: MediaBytes = {
  read: () => Promise.reject(new Error(NO_BYTES)),
  open: async () => undefined,
  beginUpload: () => Promise.reject(new Error(NO_BYTES)),
  put: () => Promise.reject(new Error(NO_BYTES)),
  endUpload: async () => undefined,
  remove: async () => undefined,
};
