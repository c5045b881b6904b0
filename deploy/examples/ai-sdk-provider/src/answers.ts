import type { JSONObject } from '@ai-sdk/provider';
import { createJsonErrorResponseHandler, createJsonResponseHandler } from '@ai-sdk/provider-utils';
import { z } from 'zod/v4';

/** The members of a video that are read; others may come. */
const video = z.object({
  id: z.string(),
  /** Any value but `completed` and `failed` is not final. */
  status: z.string(),
  created_at: z.number(),
  seconds: z.string().nullish(),
  size: z.string().nullish(),
  expires_at: z.number().nullish(),
  video_url: z.string().nullish(),
  error: z.object({ code: z.string(), message: z.string() }).nullish(),
  /** Absent while billing cannot be asked. */
  charge: z.object({ state: z.string(), amount: z.string(), currency: z.string() }).nullish(),
});
export type Video = z.infer<typeof video>;

const refusal = z.object({ error: z.object({ message: z.string() }) });

export const readVideoAnswer = createJsonResponseHandler(video);

const REPEATED: ReadonlySet<number> = new Set([408, 409, 429]);

/**
 * A refusal is an APICallError with the sentence of the gateway. The SDK repeats a create with its key, so a failure of
 * the gateway can be repeated even if its outcome is uncertain. Of other refusals the gateway says which cannot succeed.
 */
export const readRefusal = createJsonErrorResponseHandler({
  errorSchema: refusal,
  errorToMessage: ({ error }) => error.message,
  isRetryable: ({ status, headers }) =>
    status >= 500 || (REPEATED.has(status) && headers.get('x-should-retry') !== 'false'),
});

/** Describes a video to the caller of the SDK; of several calls it joins the lists of `videos`. */
export function toMetadata({ id, status, seconds, size, expires_at, error, charge }: Video): {
  readonly reelgate: JSONObject;
} {
  const own = { id, ...(charge && { charge }), ...(error && { error }) };
  const more = { ...(seconds && { seconds }), ...(size && { size }), ...(expires_at && { expires_at }) };
  return { reelgate: { ...own, ...(status === 'completed' && { videos: [{ ...own, ...more }] }) } };
}
