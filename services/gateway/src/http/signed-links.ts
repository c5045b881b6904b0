import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Secret } from '@reelgate/platform/secret';
import { signPath } from '@reelgate/platform/signatures';
import { readPrefix } from '@reelgate/platform/http/path-prefix';
import type { Links } from '../dialects/dialect.ts';

/** Links that play without a token until the result expires, or for a shorter time. */
export function newLinkSigner(publicUrl: string, key: Secret): Links {
  const prefix = readPrefix(publicUrl);
  return {
    toPublicPath: (path) => prefix + path,
    toVideoUrl: ({ result, expiresAt }, endsAt = Infinity) => {
      if (result === undefined || result.object === '' || expiresAt === undefined) return undefined;
      const path = `/ximg/${result.object}.mp4`;
      const seconds = Math.floor(Math.min(timestampMs(expiresAt), endsAt) / 1000);
      return `${publicUrl}${path}?${signPath(key, path, seconds)}`;
    },
    toAddress: (path) => `${publicUrl}${path}`,
  };
}
