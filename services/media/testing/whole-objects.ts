import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { S3Files } from 's3rver';

interface Received {
  readonly path: string;
  readonly size: number;
  readonly md5: string;
}

/**
 * Makes the server store objects as S3 does: completely or not at all. By itself the server answers before the bytes
 * are in their file. An object can then be missing just after its upload, reappear after its removal, or consist of
 * truncated parts.
 */
export function keepWhole(store: S3Files, scratch: string): void {
  store.putObject = async ({ bucket, key, content, metadata }) => {
    const { size, md5, path: file } = await receive(scratch, content);
    const target = store.getResourcePath(bucket, key, 'object');
    await mkdir(path.dirname(target), { recursive: true });
    await store.putMetadata(bucket, key, metadata, md5);
    await rename(file, target);
    return { size, md5 };
  };
  store.putPart = async (bucket, uploadId, partNumber, content) => {
    const { size, md5, path: file } = await receive(scratch, content);
    const target = path.join(store.getResourcePath(bucket, undefined, 'uploads'), uploadId, String(partNumber));
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(`${target}.md5`, md5);
    await rename(file, target);
    return { size, md5 };
  };
}

async function receive(scratch: string, content: Readable | Buffer): Promise<Received> {
  const file = path.join(scratch, randomUUID());
  const hash = createHash('md5');
  let size = 0;
  await pipeline(
    Buffer.isBuffer(content) ? Readable.from([content]) : content,
    async function* hashed(chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        size += chunk.length;
        yield chunk;
      }
    },
    createWriteStream(file),
  );
  return { path: file, size, md5: hash.digest('hex') };
}
