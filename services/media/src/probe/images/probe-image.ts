import probeHeader from 'probe-image-size/sync.js';
import type { ProbeFault } from '../../domain/media-facts.ts';
import { firstBytes } from '../first-bytes.ts';
import { openPicture } from './pictures.ts';
import type { ProbeJob, ProbeOutcome } from '../probe.ts';
import { closeSync, openSync, readSync } from 'node:fs';

/**
 * The size is in the first bytes of nearly every picture, or after the depth maps and previews that cameras write
 * first.
 */
const HEADER_BYTES = [64 * 1024, 32 * 1024 * 1024];
/** The longest side. Decoders fail on longer pictures, even if they have few pixels. */
const SIDE_MAX = 16_383;
const DECODED_SIDE = 8;
/** These are encoded as HEVC, which is not decoded here: only the header is read. */
const NOT_DECODED: ReadonlySet<string> = new Set(['image/heic', 'image/heif']);
/** Checks before decoding, because a decoder's call cannot be interrupted. */
const CHECKS: Readonly<Record<string, (path: string) => ProbeFault | undefined>> = {
  'image/jpeg': findJpegFault,
  'image/png': findPngFault,
};
/** The names of types in the header parser. */
const HEADER_TYPES: Readonly<Record<string, string>> = { 'image/heif': 'image/heic' };

/** Reads the size from the header, then decodes the whole picture once. A damaged file fails there. */
export async function probeImage(job: ProbeJob, mediaType: string): Promise<ProbeOutcome> {
  const header = readHeader(job.path);
  if (header === undefined || headerType(header.mime) !== headerType(mediaType)) return { fault: 'broken' };
  const { width, height } = header;
  if (width * height > job.pixelsMax || Math.max(width, height) > SIDE_MAX) return { fault: 'too_many_pixels' };
  if (NOT_DECODED.has(mediaType)) return { facts: { family: 'image', mediaType, width, height } };
  const fault = CHECKS[mediaType]?.(job.path);
  if (fault !== undefined) return { fault };

  const picture = openPicture(job.path, job, mediaType === 'image/jpeg' ? 'warning' : 'error');
  const decoded = await picture.metadata();
  if ((decoded.pages ?? 1) > 1) return { fault: 'several_frames' };
  // scaled down from every pixel: it decodes everything and holds little memory
  await picture.resize(DECODED_SIDE, DECODED_SIDE, { fit: 'fill', fastShrinkOnLoad: false }).raw().toBuffer();
  return { facts: { family: 'image', mediaType, width: decoded.width, height: decoded.height } };
}

function readHeader(path: string): { width: number; height: number; mime: string } | undefined {
  for (const count of HEADER_BYTES) {
    const header = probeHeader(firstBytes(path, count));
    if (header !== null) return header;
  }
  return undefined;
}

const headerType = (mediaType: string): string => HEADER_TYPES[mediaType] ?? mediaType;

const SIGNATURE_BYTES = 8;
/** The length and the name of a chunk. A checksum of four bytes follows its data. */
const HEAD_BYTES = 8;
const NAME_AT = 4;
const SUM_BYTES = 4;
/** The maximum number of chunks before the pixels. A usual picture has a dozen. */
const CHUNKS_MAX = 4096;
/** Compressed texts, which are unpacked before the pixels: up to a thousandfold, with seconds for thirty megabytes. */
const PACKED: ReadonlySet<string> = new Set(['iCCP', 'iTXt', 'zTXt']);
const PACKED_BYTES_MAX = 1024 * 1024;

/** Far more segments than a usable picture has. */
const JPEG_BYTES_MAX = 64 * 1024 * 1024;
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
function findJpegFault(path: string): ProbeFault | undefined {
  const { buffer, byteOffset, byteLength } = firstBytes(path, JPEG_BYTES_MAX);
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

interface Chunk {
  readonly name: string;
  readonly bytes: number;
}

/** Refuses a PNG that is animated or has too many chunks or texts, before its pixels are decoded. */
function findPngFault(path: string): ProbeFault | undefined {
  const descriptor = openSync(path, 'r');
  try {
    let at = SIGNATURE_BYTES;
    let packedBytes = 0;
    for (let chunks = 0; chunks < CHUNKS_MAX && packedBytes <= PACKED_BYTES_MAX; chunks += 1) {
      const chunk = readChunk(descriptor, at);
      if (chunk === undefined || chunk.name === 'IDAT') return undefined;
      if (chunk.name === 'acTL') return 'several_frames';
      if (PACKED.has(chunk.name)) packedBytes += chunk.bytes;
      at += HEAD_BYTES + chunk.bytes + SUM_BYTES;
    }
    return 'overrun';
  } finally {
    closeSync(descriptor);
  }
}

function readChunk(descriptor: number, at: number): Chunk | undefined {
  const head = Buffer.alloc(HEAD_BYTES);
  const bytesRead = readSync(descriptor, head, 0, HEAD_BYTES, at);
  return bytesRead < HEAD_BYTES ? undefined : { name: head.toString('latin1', NAME_AT), bytes: head.readUInt32BE(0) };
}
