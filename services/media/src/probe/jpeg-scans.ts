import type { ProbeFault } from '../domain/media-facts.ts';
import { firstBytes } from './first-bytes.ts';

/** Far more than a picture has that may be used. */
const BYTES_MAX = 64 * 1024 * 1024;
/** A progressive picture has about ten. Each is another pass over all of the pixels, in a call that nobody can end. */
const SCANS_MAX = 100;

const MARKER = 0xff;
const END_OF_IMAGE = 0xd9;
const START_OF_SCAN = 0xda;
const MARKER_BYTES = 2;
const LENGTH_BYTES = 2;

/** Places to go on from within the data of a scan; they have no data of their own. */
const isRestart = (code: number): boolean => code >= 0xd0 && code <= 0xd7;

/** What speaks against a JPEG before its pixels: more passes over them than any picture has. */
export function faultOfJpeg(path: string): ProbeFault | undefined {
  const { buffer, byteOffset, byteLength } = firstBytes(path, BYTES_MAX);
  return scansIn(Buffer.from(buffer, byteOffset, byteLength)) > SCANS_MAX ? 'overrun' : undefined;
}

/** Counted from segment to segment, so that a picture within the metadata of another does not count. Bytes between them are passed over, as the decoder does. */
function scansIn(bytes: Buffer): number {
  let scans = 0;
  let at = nextMarker(bytes, MARKER_BYTES);
  while (at + MARKER_BYTES + LENGTH_BYTES <= bytes.byteLength && bytes[at + 1] !== END_OF_IMAGE && scans <= SCANS_MAX) {
    if (bytes[at + 1] === START_OF_SCAN) scans += 1;
    at = nextMarker(bytes, at + MARKER_BYTES + Math.max(LENGTH_BYTES, bytes.readUInt16BE(at + MARKER_BYTES)));
  }
  return scans;
}

/** Where the next marker stands; behind the end where there is none. A byte of the data that only looks like one is followed by a zero. */
function nextMarker(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(MARKER, from); at >= 0; at = bytes.indexOf(MARKER, at + 1)) {
    const code = bytes[at + 1] ?? 0;
    if (code !== 0 && code !== MARKER && !isRestart(code)) return at;
  }
  return bytes.byteLength;
}
