import type {
  Experimental_VideoModelV4CallOptions,
  Experimental_VideoModelV4File,
  JSONObject,
  SharedV4Warning,
} from '@ai-sdk/provider';
import { convertToBase64 } from '@ai-sdk/provider-utils';
import type { ReelgateVideoOptions } from './video-options.ts';

interface MediaItem {
  readonly type: string;
  readonly role: string;
  readonly media: Experimental_VideoModelV4File;
}

/** The families of references: the first part of a media type, and what it is in an order. */
const FAMILIES = {
  image: { type: 'image_url', role: 'reference_image' },
  video: { type: 'video_url', role: 'reference_video' },
  audio: { type: 'audio_url', role: 'reference_audio' },
} as const;
type Family = keyof typeof FAMILIES;

/** The endings of URLs whose media type the caller does not say. Any other URL is taken to be of an image. */
const ENDINGS: readonly (readonly [RegExp, Family])[] = [
  [/\.(mp4|m4v|mov|webm)$/i, 'video'],
  [/\.(mp3|m4a|wav|ogg)$/i, 'audio'],
];

/** The options of the SDK that no order can express. */
const UNSUPPORTED = ['fps', 'seed', 'generateAudio'] as const;

/** Builds the body of `POST /v1/videos`, and a warning for each option that is not in it. */
export function buildOrder(
  model: string,
  call: Experimental_VideoModelV4CallOptions & { readonly webhookUrl?: string },
  { max_amount, currency, resolution, extra }: ReelgateVideoOptions,
): { readonly body: JSONObject; readonly warnings: SharedV4Warning[] } {
  const content = listMedia(call).map(({ type, role, media }) => ({ type, role, [type]: { url: toMediaUrl(media) } }));
  const body = {
    ...extra,
    model,
    prompt: call.prompt,
    seconds: call.duration === undefined ? undefined : String(call.duration),
    ratio: call.aspectRatio,
    ...(resolution === undefined ? { size: call.resolution } : { resolution }),
    content: content.length === 0 ? undefined : content,
    webhook_url: call.webhookUrl,
    max_amount,
    currency,
  };
  return { body: dropUndefined(body), warnings: listWarnings(call) };
}

function listMedia({
  image,
  frameImages = [],
  inputReferences = [],
}: Experimental_VideoModelV4CallOptions): MediaItem[] {
  const frames = frameImages.map(({ image: media, frameType }) => ({ type: 'image_url', role: frameType, media }));
  // The SDK gives a first frame under both names.
  const isGivenTwice = frames.some(({ role }) => role === 'first_frame');
  const first = image === undefined || isGivenTwice ? [] : [{ type: 'image_url', role: 'first_frame', media: image }];
  return [...first, ...frames, ...inputReferences.map((media) => ({ ...FAMILIES[readFamily(media)], media }))];
}

function readFamily(media: Experimental_VideoModelV4File): Family {
  const named = media.mediaType?.split('/', 1)[0] ?? '';
  if (Object.hasOwn(FAMILIES, named)) return named as Family;
  if (media.type !== 'url' || !URL.canParse(media.url)) return 'image';
  const { pathname } = new URL(media.url);
  return ENDINGS.find(([ending]) => ending.test(pathname))?.[1] ?? 'image';
}

function toMediaUrl(media: Experimental_VideoModelV4File): string {
  return media.type === 'url' ? media.url : `data:${media.mediaType};base64,${convertToBase64(media.data)}`;
}

function listWarnings(call: Experimental_VideoModelV4CallOptions): SharedV4Warning[] {
  const warnings: SharedV4Warning[] = UNSUPPORTED.filter((feature) => call[feature] !== undefined).map((feature) => ({
    type: 'unsupported',
    feature,
    details: 'an order has no such field; the model decides',
  }));
  if (call.n > 1)
    warnings.push({
      type: 'unsupported',
      feature: 'n',
      details: 'a call makes one video; leave maxVideosPerCall out, and the SDK makes a call for each video',
    });
  return warnings;
}

function dropUndefined(fields: Readonly<Record<string, unknown>>): JSONObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JSONObject;
}
