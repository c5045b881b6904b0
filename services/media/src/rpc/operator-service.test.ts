import { createHash } from 'node:crypto';
import { readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { S3_KEYS, startS3Server } from '../../testing/s3-server.ts';
import type { S3Server } from '../../testing/s3-server.ts';
import { startMediaUnderTest } from '../../testing/media-under-test.ts';
import type { MediaUnderTest } from '../../testing/media-under-test.ts';
import { openS3Blobs } from '../blobs/s3-blobs.ts';
import { parseS3Address } from '../blobs/s3-address.ts';

let under: MediaUnderTest;
const put = async (text: string): Promise<string> =>
  (await under.media.bytes.put(Buffer.from(text), { accountId: 'demo' })).object;
const verify = (over: object = {}) => under.operator.verifyBlobs(over);

describe('the verification of a folder', () => {
  const fileOf = (text: string): string => {
    const blobs = path.join(under.folder, 'blobs');
    const file = readdirSync(blobs, { recursive: true, withFileTypes: true }).find(
      (entry) => entry.isFile() && entry.name.startsWith(createHash('sha256').update(text).digest('hex')),
    );
    return path.join(file!.parentPath, file!.name);
  };
  beforeEach(async () => {
    under = await startMediaUnderTest();
    for (const text of ['one', 'two', 'three']) await put(text);
  });
  const done = async (): Promise<void> => under.close();

  test('finds no fault in intact blobs', async () => {
    expect(await verify()).toMatchObject({ checked: 3, bytes: 11n, faults: [], next: '' });
    await done();
  });

  test('names missing, truncated and changed blobs with their objects and tasks', async () => {
    const object = await put('gone');
    rmSync(fileOf('gone'));
    truncateSync(fileOf('two'), 1);
    writeFileSync(fileOf('three'), 'THREE');

    const { faults } = await verify();
    expect(faults.map(({ fault, bytes, foundBytes }) => [fault, bytes, foundBytes]).toSorted()).toEqual([
      ['content', 5n, 5n],
      ['missing', 4n, 0n],
      ['size', 3n, 1n],
    ]);
    expect(faults.find(({ fault }) => fault === 'missing')?.objects).toEqual([object]);
    expect((await verify({ sizesOnly: true })).faults.map(({ fault }) => fault).toSorted()).toEqual([
      'missing',
      'size',
    ]);
    await done();
  });

  test('continues page by page from any position', async () => {
    let checked = 0;
    let after = '';
    let pages = 0;
    do {
      const page = await verify({ after, limit: 1 });
      checked += page.checked;
      after = page.next;
      pages += 1;
    } while (after !== '' && pages < 10);

    expect([checked, pages]).toEqual([3, 4]);
    await expect(verify({ limit: -1 })).rejects.toMatchObject({ kind: 'invalid', field: 'limit' });
    await done();
  });
});

describe('the verification of a bucket', () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await startS3Server();
    under = await startMediaUnderTest({
      section: { blobs: `s3://${server.bucket}?endpoint=${server.endpoint}`, s3: S3_KEYS },
    });
  });
  afterAll(async () => {
    await under.close();
    await server.close();
  });

  test('names missing blobs', async () => {
    const object = await put('in the bucket');
    await put('another');
    expect(await verify()).toMatchObject({ checked: 2, faults: [] });
    const blobs = openS3Blobs({
      address: parseS3Address(`s3://${server.bucket}?endpoint=${server.endpoint}`),
      credentials: server.credentials,
      scratch: '/nowhere',
      clock: { now: () => 0, sleep: async () => undefined },
      newId: () => 'x',
    });
    await blobs.remove((await blobs.list('', 10)).find(({ bytes }) => bytes === 13)!.key);
    blobs.close();

    expect((await verify()).faults).toEqual([expect.objectContaining({ fault: 'missing', objects: [object] })]);
  });
});
