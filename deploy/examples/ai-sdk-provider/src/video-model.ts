import type {
  Experimental_VideoModelV4,
  Experimental_VideoModelV4OperationStatusResult,
  Experimental_VideoModelV4VideoData,
} from '@ai-sdk/provider';
import { combineHeaders, getFromApi, postJsonToApi, validateTypes } from '@ai-sdk/provider-utils';
import type { FetchFunction } from '@ai-sdk/provider-utils';
import { z } from 'zod/v4';
import { readRefusal, readVideoAnswer, toMetadata } from './answers.ts';
import type { Video } from './answers.ts';
import { buildOrder } from './build-order.ts';
import { downloadVideo } from './download-video.ts';
import { readVideoOptions } from './video-options.ts';

/** The gateway holds an answer for these seconds at most, so that an end shows at once between two polls of the SDK. */
const POLL_WAIT_SECONDS = 4;
/** The SDK asks once after a webhook, and takes a video that is not final there for a fault. */
const WEBHOOK_WAIT_SECONDS = 10;

export interface Connection {
  toUrl(path: string): string;
  headers(): Record<string, string | undefined>;
  readonly fetch: FetchFunction | undefined;
}

/** The caller of the SDK can store it, and ask from another process. */
const operationSchema = z.object({
  id: z.string(),
  output: z.enum(['bytes', 'url']).default('bytes'),
  webhook: z.boolean().default(false),
});
type Operation = z.infer<typeof operationSchema>;

type StatusCall = Omit<Parameters<NonNullable<Experimental_VideoModelV4['doStatus']>>[0], 'operation'>;
type Response = Experimental_VideoModelV4OperationStatusResult['response'];
interface Answer {
  readonly value: Video;
  readonly responseHeaders?: Record<string, string>;
}

export function createVideoModel(modelId: string, connection: Connection): Experimental_VideoModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'reelgate.video',
    modelId,
    maxVideosPerCall: 1,
    handleWebhookOption: async ({ webhook }) => {
      const { url, received } = await webhook();
      return { webhookUrl: url, received };
    },
    doStart: async (call) => {
      const options = await readVideoOptions(call.providerOptions);
      const { body, warnings } = buildOrder(modelId, call, options);
      const answer = await postJsonToApi({
        url: connection.toUrl('/v1/videos'),
        // The SDK adds an idempotency key, which stays the same in each of its repeats.
        headers: combineHeaders(connection.headers(), call.headers),
        body,
        ...describeCall(connection, call),
      });
      const { id } = answer.value;
      const operation: Operation = { id, output: options.output ?? 'bytes', webhook: call.webhookUrl !== undefined };
      return {
        operation,
        warnings,
        providerMetadata: toMetadata(answer.value),
        response: toResponse(modelId, answer),
      };
    },
    doStatus: async ({ operation, ...call }) => {
      const { id, output, webhook } = await validateTypes({ value: operation, schema: operationSchema });
      const first = await readVideo(connection, call, id, POLL_WAIT_SECONDS);
      const answer =
        isFinal(first.value) || !webhook ? first : await readVideo(connection, call, id, WEBHOOK_WAIT_SECONDS);
      const video = answer.value;
      const known = { providerMetadata: toMetadata(video), response: toResponse(modelId, answer) };
      if (!isFinal(video)) return { status: 'pending', ...known };
      if (video.status === 'failed')
        return { status: 'error', error: video.error?.message ?? 'the task failed', ...known };
      return {
        status: 'completed',
        videos: [await fetchResult(connection, call, video, output)],
        warnings: [],
        ...known,
      };
    },
  };
}

function readVideo(connection: Connection, call: StatusCall, id: string, waitSeconds: number): Promise<Answer> {
  return getFromApi({
    url: connection.toUrl(`/v1/videos/${encodeURIComponent(id)}`),
    headers: { ...combineHeaders(connection.headers(), call.headers), prefer: `wait=${waitSeconds}` },
    validateUrl: false,
    ...describeCall(connection, call),
  });
}

/** A link if the caller asks for one, or if the video is too large for the memory of a program. */
async function fetchResult(
  connection: Connection,
  call: StatusCall,
  { id, video_url: url }: Video,
  output: Operation['output'],
): Promise<Experimental_VideoModelV4VideoData> {
  const link = url === null || url === undefined ? undefined : ({ type: 'url', url, mediaType: 'video/mp4' } as const);
  if (output === 'url' && link !== undefined) return link;
  const bytes = await downloadVideo({
    url: connection.toUrl(`/v1/videos/${encodeURIComponent(id)}/content`),
    headers: combineHeaders(connection.headers(), call.headers),
    abortSignal: call.abortSignal,
    fetch: connection.fetch,
  });
  if (bytes !== undefined) return { type: 'binary', ...bytes };
  if (link !== undefined) return link;
  throw new Error(`the video ${id} has no link, and is too large to be held in memory`);
}

function describeCall(connection: Connection, { abortSignal }: Pick<StatusCall, 'abortSignal'>) {
  return {
    ...(abortSignal && { abortSignal }),
    ...(connection.fetch && { fetch: connection.fetch }),
    successfulResponseHandler: readVideoAnswer,
    failedResponseHandler: readRefusal,
  };
}

function isFinal({ status }: Video): boolean {
  return status === 'completed' || status === 'failed';
}

function toResponse(modelId: string, { value, responseHeaders }: Answer): Response {
  return {
    timestamp: new Date(responseHeaders?.['date'] ?? value.created_at * 1000),
    modelId,
    headers: responseHeaders,
  };
}
