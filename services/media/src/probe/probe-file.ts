import { fileTypeFromBuffer } from 'file-type';
import { FORMATS } from '../domain/formats.ts';
import type { Family } from '../domain/formats.ts';
import { claimsFit } from './claims/check-claims.ts';
import { firstBytes } from './first-bytes.ts';
import type { ProbeJob, ProbeOutcome } from './probe.ts';

const SNIFFED_BYTES = 4100;
/** Other names of types that are kept under one. */
const SAME_AS: Readonly<Record<string, string>> = { 'video/x-m4v': 'video/mp4' };

type Read = (job: ProbeJob, mediaType: string) => Promise<ProbeOutcome>;

/** Loaded by family when one first comes: the libraries are heavy. */
const READERS: Readonly<Record<Family, () => Promise<Read>>> = {
  image: async () => (await import('./probe-image.ts')).probeImage,
  video: async () => (await import('./probe-container.ts')).probeVideo,
  audio: async () => (await import('./probe-container.ts')).probeAudio,
};

/** The bytes decide what a file is; its name and what was said of it do not count. Runs in a worker. */
export async function probeFile(job: ProbeJob): Promise<ProbeOutcome> {
  const seen = await fileTypeFromBuffer(firstBytes(job.path, SNIFFED_BYTES));
  const mediaType = SAME_AS[seen?.mime ?? ''] ?? seen?.mime ?? '';
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
