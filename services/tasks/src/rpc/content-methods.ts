import { durationMs, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Implementation } from '@reelgate/platform/rpc/service';
import type { GetTaskContentResponseSchema, TaskService } from '@reelgate/proto/tasks/v1/task_service';
import type { ContentDeps } from '../operations/content/content-deps.ts';
import { signContentLink } from '../operations/content/content-link.ts';
import { uploadMedia } from '../operations/uploads/upload-media.ts';
import { readUpload } from './read-upload.ts';
import { readContent } from '../operations/content/read-content.ts';
import type { ContentPart } from '../operations/content/read-content.ts';

/** The methods of the service for the bytes of results and uploads. */
export type ContentMethods = Pick<
  Implementation<typeof TaskService>,
  'getTaskContent' | 'createContentLink' | 'uploadMedia'
>;

export function contentMethods(deps: ContentDeps): ContentMethods {
  return {
    async *getTaskContent(request, { signal }) {
      for await (const part of readContent(deps, request, signal)) yield { part: toWirePart(part) };
    },
    createContentLink: async ({ accountId, taskId, lifetime }) => {
      const { url, expiresAt } = await signContentLink(deps, {
        accountId,
        taskId,
        lifetimeMs: lifetime && durationMs(lifetime),
      });
      return { url, expiresAt: timestampFromMs(expiresAt) };
    },
    uploadMedia: async (requests, { signal }) => {
      const messages = requests[Symbol.asyncIterator]();
      try {
        const { object, bytes, expiresAt } = await uploadMedia(deps, await readUpload(messages), signal);
        return { object, bytes: BigInt(bytes), expiresAt: timestampFromMs(expiresAt) };
      } finally {
        // not awaited: the uploader may send nothing more
        messages.return?.().then(undefined, () => undefined);
      }
    },
  };
}

function toWirePart(part: ContentPart): NonNullable<MessageInitShape<typeof GetTaskContentResponseSchema>['part']> {
  if ('data' in part) return { case: 'data', value: part.data };
  const { video, sha256, offset, length } = part.facts;
  return {
    case: 'facts',
    value: {
      mediaType: video.mediaType,
      bytes: BigInt(video.bytes),
      offset: BigInt(offset),
      length: BigInt(length),
      sha256,
      fileName: `${video.taskId}.mp4`,
    },
  };
}
