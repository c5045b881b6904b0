import { closeSync, openSync } from 'node:fs';
import { FileBytes, FalseClaim, claim } from './file-bytes.ts';
import { checkMovie } from './movie-claims.ts';
import { checkWebm } from './webm-claims.ts';

/** The checks by container. A picture is checked where its size is read. */
const CHECKS: Readonly<Record<string, (bytes: FileBytes) => void>> = {
  'video/mp4': checkMovie,
  'video/quicktime': checkMovie,
  'video/webm': checkWebm,
  'audio/wav': checkWave,
  'audio/mpeg': checkMp3,
};

/**
 * Reports whether the claims of a container (tables, counts, sizes) fit into a file of its size. A parser trusts
 * them, so a few hundred bytes can keep it busy for minutes. The check reads headers and tables only. It runs in a
 * parser process.
 */
export function claimsFit(path: string, mediaType: string): boolean {
  const descriptor = openSync(path, 'r');
  try {
    CHECKS[mediaType]?.(new FileBytes(descriptor));
    return true;
  } catch (error) {
    if (error instanceof FalseClaim) return false;
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

const RIFF_HEAD_BYTES = 12;
const CHUNK_HEAD_BYTES = 8;
/** The maximum number of chunks in one file. A WAV has a handful. */
const CHUNKS_MAX = 4096;
const FORMAT_BYTES_MIN = 16;
/** Files with little-endian numbers. */
const RIFF: ReadonlySet<string> = new Set(['RIFF', 'RF64']);

const TAG_HEAD_BYTES = 10;
/** The maximum number of tags in one file. A second tag is rare, and no known writer adds a third. */
const TAGS_MAX = 16;
/** The distance after the tags within which the first frame is searched for, in bytes. */
const FRAME_WITHIN_BYTES = 4096;
/** The size of a frame at the lowest bit rate. */
const FRAME_BYTES_MIN = 24;
/** The offsets of the frame's claims after its start: by version and channels, and for the other format. */
const XING_OFFSETS = [4 + 9, 4 + 17, 4 + 32];
const XING_NAMES: ReadonlySet<string> = new Set(['Xing', 'Info']);
const XING_HAS_FRAMES = 1;
const VBRI_OFFSET = 4 + 32;
const VBRI_FRAMES_AT = 14;

/**
 * Throws a `FalseClaim` if a WAV claims more than it can hold. Only its audio may be longer: live recordings claim so.
 */
function checkWave(bytes: FileBytes): void {
  if (bytes.size < RIFF_HEAD_BYTES || !RIFF.has(bytes.name(0))) return;
  let chunks = 0;
  for (let at = RIFF_HEAD_BYTES; at + CHUNK_HEAD_BYTES <= bytes.size; chunks += 1) {
    claim(chunks < CHUNKS_MAX, 'has too many chunks');
    const name = bytes.name(at);
    const size = bytes.u32le(at + 4);
    const start = at + CHUNK_HEAD_BYTES;
    if (name === 'data' && start + size > bytes.size) return;
    claim(start + size <= bytes.size, `has a chunk ${name} that ends behind the file`);
    if (name === 'fmt ') checkFormat(bytes, start, size);
    at = start + size + (size % 2);
  }
}

function checkFormat(bytes: FileBytes, start: number, size: number): void {
  claim(size >= FORMAT_BYTES_MIN, 'has a truncated format');
  const [channels, rate, block] = [bytes.u16le(start + 2), bytes.u32le(start + 4), bytes.u16le(start + 12)];
  claim(channels > 0 && rate > 0 && block > 0, 'has samples of no bytes');
}

/** Throws a `FalseClaim` if an MP3 is too short for the tags or frames that it claims. */
function checkMp3(bytes: FileBytes): void {
  let at = 0;
  for (let tags = 0; at + TAG_HEAD_BYTES <= bytes.size && isTag(bytes, at); tags += 1) {
    claim(tags < TAGS_MAX, 'has too many tags');
    at += TAG_HEAD_BYTES + tagBytes(bytes, at + 6);
    claim(at <= bytes.size, 'has a tag that ends behind the file');
  }
  const last = Math.min(bytes.size - VBRI_OFFSET - VBRI_FRAMES_AT - 4, at + FRAME_WITHIN_BYTES);
  while (at < last && !isFrame(bytes, at)) at += 1;
  if (at < last) claim(framesSaid(bytes, at) * FRAME_BYTES_MIN <= bytes.size, 'has more frames than bytes');
}

const isTag = (bytes: FileBytes, at: number): boolean => bytes.u24(at) === 0x494433;
const isFrame = (bytes: FileBytes, at: number): boolean => bytes.u8(at) === 0xff && (bytes.u8(at + 1) & 0xe0) === 0xe0;

/** Seven bits of each byte. */
function tagBytes(bytes: FileBytes, at: number): number {
  return [0, 1, 2, 3].reduce((sum, next) => sum * 0x80 + (bytes.u8(at + next) & 0x7f), 0);
}

function framesSaid(bytes: FileBytes, frameAt: number): number {
  if (bytes.name(frameAt + VBRI_OFFSET) === 'VBRI') return bytes.u32(frameAt + VBRI_OFFSET + VBRI_FRAMES_AT);
  const xing = XING_OFFSETS.map((offset) => frameAt + offset).find((at) => XING_NAMES.has(bytes.name(at)));
  return xing === undefined || (bytes.u32(xing + 4) & XING_HAS_FRAMES) === 0 ? 0 : bytes.u32(xing + 8);
}
