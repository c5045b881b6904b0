import { durationMs, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Problem } from '@reelgate/platform/problem';
import type { Implementation } from '@reelgate/platform/rpc/service';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { ContentFactsSchema } from '@reelgate/proto/tasks/v1/task_service';
import type {
  GetTaskContentResponse,
  TaskService,
  UploadMediaHeader,
  UploadMediaRequest,
} from '@reelgate/proto/tasks/v1/task_service';
import type { EveryMember } from '../domain/every-member.ts';
import { signContentLink, readContent } from '../operations/content/read-content.ts';
import type { ContentDeps, ContentPart } from '../operations/content/read-content.ts';
import { uploadMedia } from '../operations/content/upload-media.ts';
import type { Upload } from '../operations/content/upload-media.ts';
import { MEDIA_WORDS, fromWireEnum } from './mapping-order.ts';
import { refuse } from '../refusals.ts';

/** The methods of the service for the bytes of results and uploads. */
export function contentMethods(deps: ContentDeps) {
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
        // not awaited: the uploader may send no more bytes
        messages.return?.().then(undefined, () => undefined);
      }
    },
  } satisfies Partial<Implementation<typeof TaskService>>;
}

function toWirePart(part: ContentPart): GetTaskContentResponse['part'] {
  if ('data' in part) return { case: 'data', value: part.data };
  const { video, sha256, offset, length } = part.facts;
  return {
    case: 'facts',
    value: toMessage(ContentFactsSchema, {
      mediaType: video.mediaType,
      bytes: BigInt(video.bytes),
      offset: BigInt(offset),
      length: BigInt(length),
      sha256,
      fileName: `${video.taskId}.mp4`,
    }),
  };
}

/** Reads the header of an upload, and leaves its pieces to be read. */
async function readUpload(iterator: AsyncIterator<UploadMediaRequest>): Promise<EveryMember<Upload>> {
  const first = await iterator.next();
  if (first.done === true || first.value.header === undefined)
    throw badHeader('header', 'is required in the first message');
  const { accountId, kind: wireKind, declaredType, bytes, sha256 } = first.value.header;
  const kind = fromWireEnum(MEDIA_WORDS, wireKind);
  if (kind === undefined) throw badHeader('header.kind', 'is required');
  return {
    accountId,
    kind,
    declaredType,
    sha256,
    bytes: readByteCount(bytes),
    pieces: readPieces(first.value.data, iterator),
  };
}

function readByteCount(bytes: UploadMediaHeader['bytes']): number | undefined {
  return bytes === undefined ? undefined : Number(bytes);
}

async function* readPieces(first: Uint8Array, iterator: AsyncIterator<UploadMediaRequest>): AsyncGenerator<Uint8Array> {
  yield first;
  for (;;) {
    const next = await iterator.next();
    if (next.done === true) return;
    if (next.value.header !== undefined) throw badHeader('header', 'must be in the first message only');
    yield next.value.data;
  }
}

function badHeader(field: string, message: string): Problem {
  return refuse('invalid_request', { field, message });
}
