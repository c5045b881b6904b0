import { timestampMs } from '@bufbuild/protobuf/wkt';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import type { CallOptions, Client } from '@reelgate/platform/rpc/service';
import { Category } from '@reelgate/proto/media/v1/media_service';
import type { MediaService } from '@reelgate/proto/media/v1/media_service';
import type { ResultCredential } from '../domain/report.ts';
import type { Result, StagedMedia } from '../domain/task.ts';

/** The kind of media that the bytes of a reference must hold. */
export type MediaCategory = 'image' | 'video' | 'audio' | 'base_video';

export interface StageRequest {
  readonly accountId: string;
  readonly taskId: string;
  readonly category: MediaCategory;
  readonly url?: string | undefined;
  readonly object?: string | undefined;
  readonly declaredType?: string | undefined;
}

export interface IngestRequest {
  readonly accountId: string;
  readonly taskId: string;
  readonly url: string;
  /** The header for the origin of the URL, if it requires one. */
  readonly credential?: ResultCredential | undefined;
  /** The JSON pointer of the Base64 text that holds the result, if the answer of the URL is JSON. */
  readonly base64At?: string | undefined;
  /** The URL of the picture of the last frame. A picture that cannot be kept does not keep the result from being stored. */
  readonly lastFrameUrl?: string | undefined;
}

export interface MediaLinker {
  /** The URL in the bucket under which a channel reads a staged object. Undefined if the channel reads it from us. */
  link(object: string, signal?: AbortSignal): Promise<string | undefined>;
}

export interface PrivateMediaRemover {
  /** Removes private objects. An object that does not exist is no error. */
  removePrivate(objects: readonly string[]): Promise<void>;
}

export interface FileRoomReader {
  /**
   * Refuses with `file_limit` an account that has used up its file storage, including the bytes that this service has
   * stored for it.
   */
  assertFileRoom(accountId: string, otherBytes: number): Promise<void>;
}

/** The calls of the media service that this service needs. */
export interface Media extends MediaLinker, PrivateMediaRemover, FileRoomReader {
  stage(request: StageRequest, options?: CallOptions): Promise<StagedMedia>;
  /** Removes the staged media of a refused task, and blocks further staging for it. Repeating it is harmless. */
  removeStaged(task: { readonly accountId: string; readonly taskId: string }, options?: CallOptions): Promise<void>;
  /** Fetches and keeps a result under the id of the task. Repeating it returns the kept result. */
  ingest(
    result: IngestRequest,
    options?: CallOptions,
  ): Promise<{ readonly result: Result; readonly expiresAt: number }>;
  remove(taskId: string): Promise<void>;
}

const STAGE_TIMEOUT_MS = 150_000;
const INGEST_TIMEOUT_MS = 600_000;
/** The most objects that one call takes. */
const PRIVATE_MAX = 200;
const CATEGORIES = deriveValues(Category);

export function mediaClient(rpc: Client<typeof MediaService>): Media {
  return {
    stage: async ({ accountId, taskId, category, url = '', object = '', declaredType = '' }, options) => {
      const { media } = await rpc.stageMedia(
        { accountId, taskId, category: CATEGORIES[category], url, object, declaredType },
        { timeoutMs: STAGE_TIMEOUT_MS, ...options },
      );
      if (media === undefined) throw new Error('the answer of the media service holds no staged media');
      return { object: media.object, mediaType: media.mediaType, durationMs: Number(media.durationMs) };
    },
    removeStaged: async ({ accountId, taskId }, options) => {
      await rpc.removeStaged({ accountId, taskId }, options);
    },
    ingest: async ({ accountId, taskId, url, credential, base64At = '', lastFrameUrl = '' }, options) => {
      const { result } = await rpc.ingestResult(
        {
          accountId,
          taskId,
          url,
          authorization: credential?.value.reveal() ?? '',
          authorizationHeader: credential?.header ?? '',
          base64At,
          lastFrameUrl,
        },
        { timeoutMs: INGEST_TIMEOUT_MS, ...options },
      );
      if (result === undefined || result.expiresAt === undefined)
        throw new Error('the answer of the media service holds no result');
      return {
        result: {
          object: result.object,
          bytes: Number(result.bytes),
          mediaType: result.mediaType,
          width: result.width,
          height: result.height,
          durationMs: Number(result.durationMs),
          frameRate: result.frameRate,
        },
        expiresAt: timestampMs(result.expiresAt),
      };
    },
    remove: async (taskId) => {
      await rpc.removeResult({ taskId });
    },
    link: async (object, signal) => {
      const { url } = await rpc.linkObject({ object }, { signal });
      return url === '' ? undefined : url;
    },
    assertFileRoom: async (accountId, otherBytes) => {
      await rpc.checkFileRoom({ accountId, otherBytes: BigInt(otherBytes) });
    },
    removePrivate: async (objects) => {
      for (let from = 0; from < objects.length; from += PRIVATE_MAX)
        await rpc.removePrivate({ objects: objects.slice(from, from + PRIVATE_MAX) });
    },
  };
}

const EXCHANGE_MS = 15_000;
const DEADLINE_MS = 20_000;

export interface WebhookRequest {
  readonly accountId: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The outcome of a request: the status of the answer, or the fault that prevented an answer. */
export type WebhookAnswer = { readonly status: number } | { readonly fault: string };

/** Sends a request to a receiver, over the guarded connections of media. */
export interface WebhookSender {
  send(request: WebhookRequest, call?: CallOptions): Promise<WebhookAnswer>;
}

/** The calls of media that deliver webhooks. */
interface WebhookCalls {
  readonly sendWebhook: Client<typeof MediaService>['sendWebhook'];
}

export function webhookSender(rpc: WebhookCalls): WebhookSender {
  return {
    send: async ({ accountId, url, headers, body }, call) => {
      const { statusCode, fault } = await rpc.sendWebhook(
        {
          accountId,
          url,
          headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
          body: Buffer.from(body),
          timeoutMs: BigInt(EXCHANGE_MS),
        },
        { ...call, timeoutMs: DEADLINE_MS },
      );
      return fault === '' ? { status: statusCode } : { fault };
    },
  };
}
