import { bind } from '@reelgate/platform/rpc/service';
import type { Binding, WholeMessage } from '@reelgate/platform/rpc/service';
import { MediaService, Category as WireCategory } from '@reelgate/proto/media/v1/media_service';
import type {
  IngestResultRequest,
  StageMediaRequest,
  StagedMediaSchema,
  StoredResultSchema,
  SendWebhookResponseSchema,
} from '@reelgate/proto/media/v1/media_service';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import type { Problem } from '@reelgate/platform/problem';
import { requireField } from '@reelgate/platform/rpc/rules';
import { Secret } from '@reelgate/platform/secret';
import type { MediaObject } from '../domain/media-object.ts';
import type { IngestOrder } from '../operations/results/ingest-result.ts';
import { removeBytes } from '../operations/garbage/collect-garbage.ts';
import { removeStaged } from '../operations/staging/remove-staged.ts';
import type { RemoveDeps } from '../operations/staging/remove-staged.ts';
import type { StageOrder } from '../operations/staging/stage-media.ts';
import type { SendWebhook, SentWebhook } from '../fetch/webhooks/webhook-sender.ts';
import { parseJsonPointer } from '../domain/json-pointer.ts';
import type { MediaFacts, VideoFacts } from '../domain/media-facts.ts';
import { findHeadersFault } from '../domain/webhook-headers.ts';
import { refuse } from '../refusals.ts';

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
    sendWebhook: async (request) => {
      const fault = findHeadersFault(request.headers);
      if (fault !== undefined) throw invalid('headers', fault);
      return toWireSent(await sendWebhook(request));
    },
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

const CATEGORIES = deriveWords(WireCategory);

function fromWireStage(
  { accountId, taskId, category, url, object, declaredType }: StageMediaRequest,
  requestId: string,
): StageOrder {
  if ((url === '') === (object === ''))
    throw invalid('url', 'is required if object is empty; give exactly one of them');
  return {
    accountId,
    taskId,
    category: requireField(CATEGORIES[category], 'category'),
    requestId,
    source: object === '' ? { url } : { object, declaredType },
  };
}

function fromWireIngest(request: IngestResultRequest): IngestOrder {
  const { accountId, taskId, url, authorization } = request;
  const header = request.authorizationHeader || 'authorization';
  if (!isCredentialHeader(header))
    throw invalid('authorization_header', 'must be authorization, or a name in lower case that begins with x-');
  const base64At = request.base64At === '' ? undefined : parseJsonPointer(request.base64At);
  if (request.base64At !== '' && base64At === undefined)
    throw invalid('base64_at', 'must be a JSON pointer such as /data/0/b64_json');
  return {
    accountId,
    taskId,
    url,
    base64At,
    lastFrameUrl: request.lastFrameUrl === '' ? undefined : request.lastFrameUrl,
    credential: authorization === '' ? undefined : { header, value: new Secret(authorization) },
  };
}

function invalid(field: string, message: string): Problem {
  return refuse('invalid_request', { field, message });
}

function toWireStaged({ id, blob: { bytes, facts } }: MediaObject): WholeMessage<typeof StagedMediaSchema> {
  const hasAudio = facts?.family === 'video' && facts.audioCodec !== undefined;
  return { object: id, bytes: BigInt(bytes), ...readFacts(facts), hasAudio };
}

function toWireResult({ id, blob, expiresAt }: MediaObject): WholeMessage<typeof StoredResultSchema> {
  const { bytes, sha256, facts } = blob;
  return { object: id, bytes: BigInt(bytes), sha256, expiresAt: timestampFromMs(expiresAt), ...readFacts(facts) };
}

/** A property that a medium does not have is zero or empty. */
function readFacts(facts: MediaFacts | undefined) {
  const known: Partial<Omit<VideoFacts, 'family'>> = facts ?? {};
  const { mediaType = '', width = 0, height = 0, durationMs = 0, frameRate = 0 } = known;
  return { mediaType, width, height, durationMs: BigInt(durationMs), frameRate };
}

function toWireSent({ status, fault, ...sent }: SentWebhook): WholeMessage<typeof SendWebhookResponseSchema> {
  const { durationMs, retryAfterMs, answerHead } = sent;
  return {
    ...{ statusCode: status, fault: fault ?? '', answerHead: new Uint8Array(answerHead) },
    durationMs: BigInt(Math.round(durationMs)),
    retryAfterMs: BigInt(Math.round(retryAfterMs)),
  };
}

/** No header that steers a request, such as `host` or `range`, has such a name. */
const CREDENTIAL_HEADER = /^(?:authorization|x-[a-z0-9-]{1,60})$/;

/** Reports whether a header of this name can hold the credential of a result. */
function isCredentialHeader(name: string): boolean {
  return CREDENTIAL_HEADER.test(name);
}
