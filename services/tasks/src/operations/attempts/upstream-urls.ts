import type { Clock } from '@reelgate/platform/clock';
import { signPath, readSignedName, signName } from '@reelgate/platform/signatures';
import { deriveSecret } from '@reelgate/platform/secret';
import type { Secret, AcceptedKeys } from '@reelgate/platform/secret';
import type { StagedBytesReader } from '../../clients/media-bytes.ts';
import type { MediaLinker } from '../../clients/media.ts';
import type { CallbackUrls, MediaUrl } from '../deps.ts';

const PURPOSE = 'upstream-callbacks';
const NAME = /^(?<taskId>[\w-]{1,64})\.(?<number>[1-9]\d?)$/;

const LINK_SECONDS = 24 * 3600;
const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/heic': 'heic',
  'image/heif': 'heif',
  'video/mp4': 'mp4',
  'video/quicktime': 'mov',
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
};
/** The vendor names the types of its data URLs by file extension (vendor contract §2.3). */
const DATA_URL_TYPES: Readonly<Record<string, string>> = { 'audio/mpeg': 'audio/mp3' };

export interface MediaUrlParts {
  readonly bytes: StagedBytesReader;
  readonly media: MediaLinker;
  readonly publicUrl: string;
  readonly linkKey: Secret;
  readonly clock: Clock;
}

/** Makes the URL of a staged media item for a channel: a data URL, a URL in the bucket, or a signed URL of ours. */
export function mediaUrls({ bytes, media, publicUrl, linkKey, clock }: MediaUrlParts): MediaUrl {
  return async ({ object, mediaType }, references, signal) => {
    if (references === 'inline') {
      const encoded = (await bytes.read(object, signal)).toString('base64');
      return `data:${DATA_URL_TYPES[mediaType] ?? mediaType};base64,${encoded}`;
    }
    const inBucket = await media.link(object, signal);
    if (inBucket !== undefined) return inBucket;
    const path = `/ximg/${object}.${EXTENSIONS[mediaType] ?? 'bin'}`;
    return `${publicUrl}${path}?${signPath(linkKey, path, Math.floor(clock.now() / 1000) + LINK_SECONDS)}`;
  };
}

/** Unguessable URLs for the callbacks of upstreams, one for each attempt. The gateway derives the same key. */
export function callbackUrls(publicUrl: string, { signatures }: AcceptedKeys): CallbackUrls {
  const key = deriveSecret(signatures[0], PURPOSE);
  const accepted = signatures.map((one) => deriveSecret(one, PURPOSE));
  return {
    buildUrl: ({ taskId, number }) => `${publicUrl}/callbacks/${signName(key, `${taskId}.${number}`)}`,
    readAttempt: (token) => {
      const { taskId, number } = NAME.exec(readSignedName(accepted, token) ?? '')?.groups ?? {};
      return taskId === undefined ? undefined : { taskId, number: Number(number) };
    },
  };
}
