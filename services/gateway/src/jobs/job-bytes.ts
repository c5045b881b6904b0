import type { JobBytes } from '../clients/jobs-client.ts';
import type { ByteReader, PrivateStore } from '../clients/media-port.ts';

/** A longer body is stored by media, so that messages between services stay small. */
const INLINE_BYTES_MAX = 32 * 1024;

/** Longer than any job and any line of a batch waits. The bytes are removed earlier when the job has ended. */
export const BODY_KEEP_MS = 8 * 24 * 3_600_000;

/** Reports whether bytes are kept beside their job rather than as a private object. */
export function isSmall(bytes: Buffer): boolean {
  return bytes.length <= INLINE_BYTES_MAX;
}

/** Keeps an answer: a small one beside its job, a larger one as a private object for `keepMs`. */
export async function keepBytes(
  media: PrivateStore,
  bytes: Buffer,
  { accountId, keepMs }: { readonly accountId: string; readonly keepMs: number },
): Promise<JobBytes> {
  return isSmall(bytes) ? { inline: bytes } : { object: (await media.putPrivate(bytes, { accountId, keepMs })).object };
}

/** Reads kept bytes, up to `bytesMax`. Returns undefined if they are no longer kept. */
export async function readBytes(media: ByteReader, body: JobBytes, bytesMax: number): Promise<Buffer | undefined> {
  if ('inline' in body) return Buffer.from(body.inline);
  const stream = await media.read(body.object);
  if (stream === undefined) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += (chunk as Buffer).length;
    if (bytes > bytesMax) throw new Error(`a stored request is longer than ${bytesMax} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}
