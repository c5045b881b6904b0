import { bind } from '@reelgate/platform/rpc/service';
import type { Binding } from '@reelgate/platform/rpc/service';
import { MediaService } from '@reelgate/proto/media/v1/media_service';
import type { Clock } from '@reelgate/platform/clock';
import type { MediaObject } from '../domain/media-object.ts';
import type { IngestOrder } from '../operations/ingest-result.ts';
import type { StageOrder } from '../operations/stage-media.ts';
import type { MediaStore } from '../store/media-store.ts';
import { atMost, fromWireIngest, fromWireStage, required, toWireResult, toWireStaged } from './mapping.ts';

/** Removed with one call. */
const PRIVATE_MAX = 200;

export interface MediaServiceDeps {
  readonly clock: Clock;
  readonly store: MediaStore;
  /** The work outlives a caller who leaves: it is bounded, and found done by the next one. */
  readonly stage: (order: StageOrder, signal: AbortSignal) => Promise<MediaObject>;
  readonly ingest: (order: IngestOrder, signal: AbortSignal) => Promise<MediaObject>;
  readonly link: (object: string) => Promise<string | undefined>;
}

export function mediaServiceBinding({ clock, store, stage, ingest, link }: MediaServiceDeps): Binding {
  return bind(MediaService, {
    stageMedia: async (request, { requestId, signal }) => ({ media: toWireStaged(await stage(fromWireStage(request, requestId), signal)) }),
    ingestResult: async (request, { signal }) => ({ result: toWireResult(await ingest(fromWireIngest(request), signal)) }),
    removeResult: async ({ taskId }) => ({ removed: await store.removeResult(required('task_id', taskId), clock.now()) }),
    linkObject: async ({ object }) => ({ url: await link(required('object', object)) ?? '' }),
    removePrivate: async ({ objects }) => {
      await store.removePrivate(atMost('objects', objects, PRIVATE_MAX), clock.now());
      return {};
    },
  });
}
