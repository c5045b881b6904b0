import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import type { BlobStore } from '../src/blobs/blob-store.ts';
import type { Incoming, ReceivedFile } from '../src/blobs/incoming.ts';

interface Opened { readonly blobs: BlobStore; readonly incoming: Incoming }

/** What every blob store does. */
export function describeBlobStore(opened: () => Opened): void {
  const received = async (bytes: Buffer): Promise<ReceivedFile> => {
    const draft = await opened().incoming.begin(bytes.byteLength);
    await draft.append([bytes]);
    return draft.finish();
  };
  const kept = async (key: string, bytes: Buffer): Promise<void> => {
    await opened().blobs.keep(key, await received(bytes));
  };
  const bytesOf = async (stream: Readable | undefined): Promise<Buffer> => Buffer.concat(await (stream?.toArray() ?? []) as Buffer[]);
  const key = (name: string): string => `${createHash('sha256').update(name).digest('hex')}-b_1`;

  test('what was kept is there, whole and by range', async () => {
    const { blobs } = opened();
    await kept(key('a'), Buffer.from('0123456789'));

    expect(await blobs.sizeOf(key('a'))).toBe(10);
    expect((await bytesOf(await blobs.open(key('a')))).toString()).toBe('0123456789');
    expect((await bytesOf(await blobs.open(key('a'), { start: 2, end: 4 }))).toString()).toBe('234');
    expect(await blobs.withFile(key('a'), async (file) => (await readFile(file)).toString())).toBe('0123456789');
  });

  test('nothing is nothing', async () => {
    const { blobs } = opened();

    expect(await blobs.sizeOf(key('nothing'))).toBeUndefined();
    expect(await blobs.open(key('nothing'))).toBeUndefined();
    expect(await blobs.withFile(key('nothing'), async () => 'ran')).toBeUndefined();
    await expect(blobs.remove(key('nothing'))).resolves.toBeUndefined();
  });

  test('keeping the same again, and at the same moment, is harmless', async () => {
    const bytes = Buffer.from('twice');
    await Promise.all([kept(key('b'), bytes), kept(key('b'), bytes)]);
    await kept(key('b'), bytes);

    expect((await bytesOf(await opened().blobs.open(key('b')))).toString()).toBe('twice');
  });

  test('what was removed is gone, but not under the hands of who reads it', async () => {
    const { blobs } = opened();
    const bytes = Buffer.alloc(2_000_000, 7);
    await kept(key('c'), bytes);
    const stream = await blobs.open(key('c'));

    await blobs.remove(key('c'));

    expect(await blobs.sizeOf(key('c'))).toBeUndefined();
    expect((await bytesOf(stream)).equals(bytes)).toBe(true);
  });

  test('a file that was taken over may be discarded all the same', async () => {
    const file = await received(Buffer.from('mine'));
    await opened().blobs.keep(key('d'), file);

    await file.discard();

    expect(await opened().blobs.sizeOf(key('d'))).toBe(4);
  });

  test.each(['', '..', '../../etc/passwd', 'a/b', 'AB', 'x'.repeat(200)])('%j is no key', async (bad) => {
    await expect((async () => opened().blobs.sizeOf(bad))()).rejects.toThrow('not a blob key');
  });
}
