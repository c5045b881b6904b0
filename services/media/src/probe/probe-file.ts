import { fileTypeFromBuffer } from 'file-type';
import { FORMATS } from '../domain/formats.ts';
import type { Family } from '../domain/formats.ts';
import { claimsFit } from './claims/check-claims.ts';
import { firstBytes } from './first-bytes.ts';
import type { ProbeJob, ProbeOutcome } from './probe.ts';

const SNIFFED_BYTES = 4100;
/** Types that are stored under another name. */
const CANONICAL_TYPES: Readonly<Record<string, string>> = { 'video/x-m4v': 'video/mp4' };

type Read = (job: ProbeJob, mediaType: string) => Promise<ProbeOutcome>;

/** The readers by family, loaded on demand because the libraries are large. */
const READERS: Readonly<Record<Family, () => Promise<Read>>> = {
  image: async () => (await import('./images/probe-image.ts')).probeImage,
  video: async () => (await import('./containers/probe-container.ts')).probeVideo,
  audio: async () => (await import('./containers/probe-container.ts')).probeAudio,
};

/**
 * Probes a file. Its bytes decide its type. Its name and its declared type do not count. It runs in a parser process.
 */
export async function probeFile(job: ProbeJob): Promise<ProbeOutcome> {
  const seen = await fileTypeFromBuffer(firstBytes(job.path, SNIFFED_BYTES));
  const mediaType = CANONICAL_TYPES[seen?.mime ?? ''] ?? seen?.mime ?? '';
  const family = FORMATS[mediaType]?.family;
  if (family === undefined) return { fault: 'unknown_type' };
  const read = await READERS[family]();
  try {
    if (!claimsFit(job.path, mediaType)) return { fault: 'broken' };
    return await read(job, mediaType);
  } catch {
    return { fault: 'broken' };
  }
}
