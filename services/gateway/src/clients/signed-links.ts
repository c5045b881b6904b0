import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Secret } from '@reelgate/platform/secret';
import { signPath } from '@reelgate/platform/signatures';
import type { Links } from '../dialects/dialect.ts';

/** Links that play without a token until the result expires. */
export function newLinkSigner(publicUrl: string, key: Secret): Links {
  return {
    toVideoUrl: ({ result, expiresAt }) => {
      if (result === undefined || result.object === '' || expiresAt === undefined) return undefined;
      const path = `/ximg/${result.object}.mp4`;
      return `${publicUrl}${path}?${signPath(key, path, Math.floor(timestampMs(expiresAt) / 1000))}`;
    },
  };
}
