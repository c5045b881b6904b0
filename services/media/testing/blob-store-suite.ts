import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import type { BlobStore } from '../src/blobs/blob-store.ts';
import type { IncomingFolder, ReceivedFile } from '../src/blobs/incoming.ts';

interface Opened {
  readonly blobs: BlobStore;
  readonly incoming: IncomingFolder;
  /** The files that were received or are being probed. */
  leftBehind(): readonly string[];
}

/** The tests that every blob store must pass. */
export function describeBlobStore(opened: () => Opened): void {
  const received = async (bytes: Buffer): Promise<ReceivedFile> => {
    const draft = await opened().incoming.begin(bytes.byteLength);
    await draft.append([bytes]);
    return draft.finish();
  };
  const kept = async (key: string, bytes: Buffer): Promise<void> => {
    await opened().blobs.keep(key, await received(bytes));
  };
  const bytesOf = async (stream: Readable | undefined): Promise<Buffer> =>
    Buffer.concat((await (stream?.toArray() ?? [])) as Buffer[]);
  const key = (name: string): string => `${createHash('sha256').update(name).digest('hex')}-b_1`;

  test('stored bytes are readable, whole and by range', async () => {
    const { blobs } = opened();
    await kept(key('a'), Buffer.from('0123456789'));

    expect(await blobs.findSize(key('a'))).toBe(10);
    expect([await blobs.has(key('a'), 10), await blobs.has(key('a'), 9)]).toEqual([true, false]);
    expect((await bytesOf(await blobs.open(key('a')))).toString()).toBe('0123456789');
    expect((await bytesOf(await blobs.open(key('a'), { start: 2, end: 4 }))).toString()).toBe('234');
    expect(await blobs.withFile(key('a'), async (file) => (await readFile(file)).toString())).toBe('0123456789');
  });

  test('a range behind the end gives nothing', async () => {
    await kept(key('short'), Buffer.from('0123456789'));

    expect(
      await opened()
        .blobs.open(key('short'), { start: 5000, end: 5009 })
        .then(async (stream) => (await bytesOf(stream)).byteLength),
    ).toBe(0);
  });

  test('an empty file is stored as an empty file', async () => {
    const { blobs } = opened();
    await kept(key('empty'), Buffer.alloc(0));

    expect(await blobs.findSize(key('empty'))).toBe(0);
    expect(await bytesOf(await blobs.open(key('empty')))).toHaveLength(0);
  });

  test('a large file is returned unchanged', async () => {
    const bytes = Buffer.alloc(20 * 1024 * 1024 + 7, 'large');
    await kept(key('large'), bytes);

    expect(await opened().blobs.findSize(key('large'))).toBe(bytes.byteLength);
    expect((await bytesOf(await opened().blobs.open(key('large')))).equals(bytes)).toBe(true);
    expect(
      (await bytesOf(await opened().blobs.open(key('large'), { start: 16_000_000, end: 16_999_999 }))).equals(
        bytes.subarray(16_000_000, 17_000_000),
      ),
    ).toBe(true);
  });

  test('keys are listed in order, in pages, from any key', async () => {
    const { blobs } = opened();
    const names = ['list-1', 'list-2', 'list-3', 'list-4'].map(key).sort();
    for (const name of names) await kept(name, Buffer.from(name));
    const listed: string[] = [];
    for (let after = ''; ;) {
      const page = await blobs.list(after, 2);
      if (page.length === 0) break;
      expect(page.length).toBeLessThanOrEqual(2);
      listed.push(...page.map((blob) => blob.key));
      after = page.at(-1)!.key;
    }

    expect(listed).toEqual(listed.toSorted());
    expect(new Set(listed).size).toBe(listed.length);
    expect(listed.filter((name) => names.includes(name))).toEqual(names);
    expect(await blobs.list(names[1]!, 1)).toEqual([
      { key: listed[listed.indexOf(names[1]!) + 1], bytes: expect.any(Number) },
    ]);
  });

  test('the store reports that it can be reached', async () => {
    await expect(opened().blobs.check()).resolves.toBeUndefined();
  });

  test('no temporary file is left', async () => {
    const { blobs, leftBehind } = opened();
    await kept(key('tidy'), Buffer.from('x'));
    await blobs.withFile(key('tidy'), async () => undefined);
    await expect(blobs.withFile(key('tidy'), async () => Promise.reject(new Error('no')))).rejects.toThrow('no');

    expect(leftBehind()).toEqual([]);
  });

  test('an unknown key is empty for every call', async () => {
    const { blobs } = opened();

    expect(await blobs.findSize(key('nothing'))).toBeUndefined();
    expect(await blobs.open(key('nothing'))).toBeUndefined();
    expect(await blobs.withFile(key('nothing'), async () => 'ran')).toBeUndefined();
    await expect(blobs.remove(key('nothing'))).resolves.toBeUndefined();
  });

  test('repeated and concurrent uploads of one key are harmless', async () => {
    const bytes = Buffer.from('twice');
    await Promise.all([kept(key('b'), bytes), kept(key('b'), bytes)]);
    await kept(key('b'), bytes);

    expect((await bytesOf(await opened().blobs.open(key('b')))).toString()).toBe('twice');
  });

  test('a removed file is missing for new readers, and an open reader reads it to its end', async () => {
    const { blobs } = opened();
    const bytes = Buffer.alloc(100_000, 7);
    await kept(key('c'), bytes);
    const stream = await blobs.open(key('c'));

    await blobs.remove(key('c'));

    expect(await blobs.findSize(key('c'))).toBeUndefined();
    expect((await bytesOf(stream)).equals(bytes)).toBe(true);
  });

  test('a file that was taken over can still be discarded', async () => {
    const file = await received(Buffer.from('mine'));
    await opened().blobs.keep(key('d'), file);

    await file.discard();

    expect(await opened().blobs.findSize(key('d'))).toBe(4);
  });

  test.each(['', '..', '../../etc/passwd', 'a/b', 'AB', 'x'.repeat(200)])('%j is not a key', async (bad) => {
    await expect((async () => opened().blobs.findSize(bad))()).rejects.toThrow('not a blob key');
  });
}
