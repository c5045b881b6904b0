import { Readable } from 'node:stream';
import type { JobCall } from '@reelgate/proto/tasks/v1/job';
import type { ByteReader, PrivateStore } from '../clients/media-port.ts';

/** The bytes of a call or an answer. */
export type JobBytes = JobCall['body'];

/** A longer body is stored by media, so that messages between services stay small. */
const INLINE_BYTES_MAX = 32 * 1024;

/** Longer than any job and any line of a batch waits. The bytes are removed earlier when the job has ended. */
export const BODY_KEEP_MS = 8 * 24 * 3_600_000;

/** Reports whether bytes are kept beside their job rather than as a private object. */
export function isSmall(bytes: Uint8Array): boolean {
  return bytes.length <= INLINE_BYTES_MAX;
}

/** Keeps bytes: small ones beside their job, larger ones as a private object for `keepMs`. */
export async function keepBytes(
  media: PrivateStore,
  bytes: Buffer,
  { accountId, keepMs }: { readonly accountId: string; readonly keepMs: number },
): Promise<JobBytes> {
  if (isSmall(bytes)) return { case: 'inline', value: bytes };
  return { case: 'object', value: (await media.putPrivate(bytes, { accountId, keepMs })).object };
}

/** Opens kept bytes. Returns undefined if they are no longer kept. */
export async function openBytes(media: ByteReader, body: JobBytes): Promise<AsyncIterable<Buffer> | undefined> {
  return body.case === 'object' ? media.read(body.value) : Readable.from([Buffer.from(body.value ?? [])]);
}

/** Reads kept bytes, up to `bytesMax`. Returns undefined if they are no longer kept. */
export async function readBytes(media: ByteReader, body: JobBytes, bytesMax: number): Promise<Buffer | undefined> {
  const stream = await openBytes(media, body);
  if (stream === undefined) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new Error(`a stored request is longer than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
