import { APICallError } from '@ai-sdk/provider';
import {
  DownloadError,
  extractResponseHeaders,
  getFromApi,
  isAbortError,
  readResponseWithSizeLimit,
} from '@ai-sdk/provider-utils';
import type { FetchFunction, ResponseHandler } from '@ai-sdk/provider-utils';
import { readRefusal } from './answers.ts';

/** The largest video that is held in memory. */
const VIDEO_BYTES_MAX = 256 * 1024 * 1024;

export interface VideoBytes {
  readonly data: Uint8Array;
  readonly mediaType: string;
}

/** Undefined if the video has more bytes than `VIDEO_BYTES_MAX`. */
export async function downloadVideo(request: {
  readonly url: string;
  readonly headers: Record<string, string | undefined>;
  readonly abortSignal: AbortSignal | undefined;
  readonly fetch: FetchFunction | undefined;
}): Promise<VideoBytes | undefined> {
  const { url, headers, abortSignal, fetch } = request;
  const { value } = await getFromApi({
    url,
    headers,
    ...(abortSignal && { abortSignal }),
    ...(fetch && { fetch }),
    // The address is that of the settings, which can be private. An answer does not name it.
    validateUrl: false,
    successfulResponseHandler: readBytes,
    failedResponseHandler: readRefusal,
  });
  return value;
}

const readBytes: ResponseHandler<VideoBytes | undefined> = async ({ response, url, requestBodyValues }) => {
  const mediaType = response.headers.get('content-type')?.split(';', 1)[0] ?? 'video/mp4';
  try {
    return {
      value: { data: await readResponseWithSizeLimit({ response, url, maxBytes: VIDEO_BYTES_MAX }), mediaType },
    };
  } catch (error) {
    if (DownloadError.isInstance(error)) return { value: undefined };
    if (isAbortError(error)) throw error;
    // The video is paid. By default an answer with the status 200 would not be asked for again.
    throw new APICallError({
      message: 'the download of the video broke off',
      url,
      requestBodyValues,
      statusCode: response.status,
      responseHeaders: extractResponseHeaders(response),
      cause: error,
      isRetryable: true,
    });
  }
};
