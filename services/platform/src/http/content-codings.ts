import type { Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import type { ZlibOptions } from 'node:zlib';

/** The codings that a body can have, as `Accept-Encoding` lists them. */
export const CONTENT_CODINGS = 'gzip, deflate, br, zstd';
const { Z_FINISH, Z_SYNC_FLUSH, ZSTD_d_windowLogMax: WINDOW_LOG } = constants;
/** 8 MiB, the most that a reader must support (RFC 9659). */
const ZSTD_WINDOW_LOG_MAX = 23;
/** In the low half of a zlib header's first byte (RFC 1950). Some programs send deflate without this header. */
const ZLIB_METHOD = 8;

/** Opens the stream that unpacks a body with this first byte. */
export type OpenUnpacker = (first: number) => Transform;
type ChooseOpener = (options: ZlibOptions) => OpenUnpacker;

const OPENERS: ReadonlyMap<string, ChooseOpener> = new Map<string, ChooseOpener>([
  ['gzip', (options) => () => createGunzip(options)],
  ['x-gzip', (options) => () => createGunzip(options)],
  ['deflate', (options) => (first) => (isZlib(first) ? createInflate(options) : createInflateRaw(options))],
  ['br', () => () => createBrotliDecompress()],
  ['zstd', () => () => createZstdDecompress({ params: { [WINDOW_LOG]: ZSTD_WINDOW_LOG_MAX } })],
]);

function isZlib(first: number): boolean {
  return (first & 0x0f) === ZLIB_METHOD;
}

/**
 * Finds the decoder for a body with this `Content-Encoding`, in upper or lower case. Returns undefined for an unknown
 * coding or several codings. A truncated gzip or deflate body is an error, or is read as far as it goes.
 */
export function findUnpacker(encoding: string, { readsTruncated = false } = {}): OpenUnpacker | undefined {
  return OPENERS.get(encoding.trim().toLowerCase())?.({ finishFlush: readsTruncated ? Z_SYNC_FLUSH : Z_FINISH });
}
