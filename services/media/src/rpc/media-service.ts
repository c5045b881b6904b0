import { bind } from '@reelgate/platform/rpc/service';
import type { Binding } from '@reelgate/platform/rpc/service';
import { MediaService } from '@reelgate/proto/media/v1/media_service';
import type { MediaObject } from '../domain/media-object.ts';
import type { IngestOrder } from '../operations/results/ingest-result.ts';
import { removeBytes } from '../operations/garbage/collect-garbage.ts';
import { removeStaged } from '../operations/staging/remove-staged.ts';
import type { RemoveDeps } from '../operations/staging/remove-staged.ts';
import type { StageOrder } from '../operations/staging/stage-media.ts';
import type { SendWebhook } from '../fetch/webhooks/webhook-sender.ts';
import { fromWireIngest, fromWireStage, toWireResult, toWireStaged, fromWireWebhook, toWireSent } from './mapping.ts';

export interface MediaServiceDeps extends RemoveDeps {
  /** Refuses an account if its files leave no room for these bytes. */
  readonly assertFileRoom: (accountId: string, otherBytes: number) => Promise<void>;
  /** The work continues when its caller leaves. It has limits, and the next caller finds it done. */
  readonly stage: (order: StageOrder, signal: AbortSignal) => Promise<MediaObject>;
  readonly ingest: (order: IngestOrder, signal: AbortSignal) => Promise<MediaObject>;
  readonly link: (object: string) => Promise<string | undefined>;
  readonly sendWebhook: SendWebhook;
}

export function mediaServiceBinding({
  stage,
  ingest,
  link,
  sendWebhook,
  assertFileRoom,
  ...deps
}: MediaServiceDeps): Binding {
  return bind(MediaService, {
    stageMedia: async (request, { requestId, signal, span }) => ({
      media: toWireStaged(await stage({ ...fromWireStage(request, requestId), span }, signal)),
    }),
    ingestResult: async (request, { signal, span }) => ({
      result: toWireResult(await ingest({ ...fromWireIngest(request), span }, signal)),
    }),
    removeResult: async ({ taskId }) => ({
      removed: await deps.store.removeResult(taskId, deps.clock.now()),
    }),
    linkObject: async ({ object }) => ({ url: (await link(object)) ?? '' }),
    checkFileRoom: async ({ accountId, otherBytes }) => {
      await assertFileRoom(accountId, Number(otherBytes));
      return {};
    },
    sendWebhook: async (request) => toWireSent(await sendWebhook(fromWireWebhook(request))),
    removeStaged: async ({ accountId, taskId }) => {
      await removeStaged(deps, { accountId, taskId });
      return {};
    },
    removePrivate: async ({ objects }) => {
      await removeBytes(deps, await deps.store.removeObjects(objects, ['private'], deps.clock.now()));
      return {};
    },
  });
}
