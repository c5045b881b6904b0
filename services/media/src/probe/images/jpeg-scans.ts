import type { ProbeFault } from '../../domain/media-facts.ts';
import { firstBytes } from '../first-bytes.ts';

/** Far more segments than a usable picture has. */
const BYTES_MAX = 64 * 1024 * 1024;
/** A progressive picture has about ten scans. Each is a pass over all pixels, in a call that cannot be interrupted. */
const SCANS_MAX = 100;

const MARKER = 0xff;
const END_OF_IMAGE = 0xd9;
const START_OF_SCAN = 0xda;
const MARKER_BYTES = 2;
const LENGTH_BYTES = 2;

/** Restart markers within the data of a scan. They have no data. */
const isRestart = (code: number): boolean => code >= 0xd0 && code <= 0xd7;

/** Refuses a JPEG with too many scans, before its pixels are decoded. */
export function findJpegFault(path: string): ProbeFault | undefined {
  const { buffer, byteOffset, byteLength } = firstBytes(path, BYTES_MAX);
  return scansIn(Buffer.from(buffer, byteOffset, byteLength)) > SCANS_MAX ? 'overrun' : undefined;
}

/**
 * Counts by segment, so that a picture in the metadata does not count. Like the decoder, it skips bytes between them.
 */
function scansIn(bytes: Buffer): number {
  let scans = 0;
  let at = nextMarker(bytes, MARKER_BYTES);
  while (at + MARKER_BYTES + LENGTH_BYTES <= bytes.byteLength && bytes[at + 1] !== END_OF_IMAGE && scans <= SCANS_MAX) {
    if (bytes[at + 1] === START_OF_SCAN) scans += 1;
    at = nextMarker(bytes, at + MARKER_BYTES + Math.max(LENGTH_BYTES, bytes.readUInt16BE(at + MARKER_BYTES)));
  }
  return scans;
}

/** The position of the next marker, or beyond the end. In scan data a zero follows a byte that resembles a marker. */
function nextMarker(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(MARKER, from); at >= 0; at = bytes.indexOf(MARKER, at + 1)) {
    const code = bytes[at + 1] ?? 0;
    if (code !== 0 && code !== MARKER && !isRestart(code)) return at;
  }
  return bytes.byteLength;
}
