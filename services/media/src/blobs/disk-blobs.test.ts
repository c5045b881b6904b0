import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { newIds } from '@reelgate/platform/ids';
import { until } from '@reelgate/platform/testing/until';
import { describeBlobStore } from '../../testing/blob-store-suite.ts';
import { openDiskBlobs } from './disk-blobs.ts';
import { TooLarge, openIncoming } from './incoming.ts';

const root = mkdtempSync(path.join(os.tmpdir(), 'media-blobs-'));
const folder = path.join(root, 'incoming');
const newId = newIds(systemClock);
const blobs = openDiskBlobs(root);
const incoming = openIncoming(folder, newId);
afterAll(() => {
  rmSync(root, { recursive: true });
});

describe('blobs in a folder', () => {
  describeBlobStore(() => ({ blobs, incoming, leftBehind: () => readdirSync(folder) }));

  test('lie in subfolders and are unreadable for other users', async () => {
    const draft = await incoming.begin(10);
    await draft.append([Buffer.from('x')]);
    await blobs.keep('ab12cd', await draft.finish());

    expect(statSync(path.join(root, 'ab', 'ab12cd')).mode & 0o777).toBe(0o600);
  });
});

test('a subfolder that was removed is made again', async () => {
  const kept = async (key: string): Promise<number | undefined> => {
    const draft = await incoming.begin(10);
    await draft.append([Buffer.from('x')]);
    await blobs.keep(key, await draft.finish());
    return blobs.findSize(key);
  };
  expect(await kept('cd0001')).toBe(1);
  rmSync(path.join(root, 'cd'), { recursive: true });

  expect(await kept('cd0002')).toBe(1);
});

test('bytes that another upload has renamed are found only when their folder is flushed', async () => {
  const flushes: PromiseWithResolvers<undefined>[] = [];
  const slow = openDiskBlobs(root, () => {
    const flush = Promise.withResolvers<undefined>();
    flushes.push(flush);
    return flush.promise;
  });
  mkdirSync(path.join(root, 'ef'));
  writeFileSync(path.join(root, 'ef', 'ef0001'), 'x');
  let isFound = false;
  const found = slow.has('ef0001', 1).then((has) => {
    isFound = has;
  });
  await until(() => flushes.length === 1);

  expect(isFound).toBe(false);
  flushes[0]?.resolve(undefined);
  await found;
  expect(isFound).toBe(true);
});

describe('an incoming file', () => {
  async function* chunks(...parts: readonly string[]): AsyncGenerator<Uint8Array> {
    for (const part of parts) yield Buffer.from(part);
  }

  test('is counted and hashed over several sources', async () => {
    const draft = await incoming.begin(100);
    await draft.append(chunks('ab', 'c'));
    await draft.append(chunks('de'));
    const file = await draft.finish();

    expect(file).toMatchObject({ bytes: 5, sha256: createHash('sha256').update('abcde').digest('hex') });
    await file.discard();
    expect(existsSync(file.path)).toBe(false);
  });

  test('is refused beyond its limit and leaves nothing', async () => {
    const draft = await incoming.begin(4);

    await expect(draft.append(chunks('abc', 'de'))).rejects.toThrow(TooLarge);
    await draft.discard();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('that a crash left is removed at the next start', () => {
    writeFileSync(path.join(folder, 'in_half'), 'half');

    openIncoming(folder, newId);

    expect(readdirSync(folder)).toEqual([]);
  });
});
