import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { signPath } from '@reelgate/platform/signatures';
import { Secret } from '@reelgate/platform/secret';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { catchRefusal } from '@reelgate/platform/testing/refusals';
import { FilePurpose } from '@reelgate/proto/media/v1/file_service';
import { Category } from '@reelgate/proto/media/v1/media_service';
import { startMediaUnderTest } from '../../testing/media-under-test.ts';
import type { MediaUnderTest } from '../../testing/media-under-test.ts';

const KIB = 1024;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let clock: FakeClock;
let under: MediaUnderTest;
let accountId: string;
let accounts = 0;
beforeAll(async () => {
  clock = fakeClock();
  under = await startMediaUnderTest({
    clock,
    section: { files: { max_bytes: '4KiB', per_account: '6KiB', count_per_account: 3, lifetime: '2d' } },
  });
});
afterAll(() => under.close());
beforeEach(() => {
  accountId = `account-${(accounts += 1)}`;
});

const put = async (file: string, bytes: number, account = accountId) => {
  const answer = await fetch(`${under.url}/bytes?account=${account}&file=${file}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${under.serviceKey}` },
    body: new Uint8Array(bytes).fill(accounts),
  });
  const json = (await answer.json()) as { readonly bytes?: number; readonly error?: { readonly code: string } };
  return [answer.status, json.error?.code ?? json.bytes];
};
const reserve = (bytes = 0, over: object = {}) =>
  under.files.reserveFile({ accountId, purpose: FilePurpose.BATCH, bytes: BigInt(bytes), ...over });
const commit = (fileId: string, over: object = {}) =>
  under.files.commitFile({ accountId, fileId, tokenId: 'token_1', filename: 'orders.jsonl', ...over });
async function keep(bytes: number, over: object = {}): Promise<string> {
  const { fileId } = await reserve(bytes);
  await put(fileId, bytes);
  await commit(fileId, over);
  return fileId;
}
const readBytes = async (id: string): Promise<number | undefined> => {
  const found = await under.media.bytes.read(id);
  found?.stream.destroy();
  return found?.bytes;
};

test('a file is committed once its bytes are there, and kept for its lifetime', async () => {
  const { fileId, bytesMax } = await reserve();
  expect(Number(bytesMax)).toBe(4 * KIB);
  expect(await catchRefusal(commit(fileId))).toMatchObject({ kind: 'unavailable', reason: 'media_busy' });
  expect(await put(fileId, 3 * KIB)).toEqual([200, 3 * KIB]);
  expect(await catchRefusal(under.files.getFile({ accountId, fileId }))).toMatchObject({ reason: 'file_not_found' });
  const { file } = await commit(fileId, { filename: 'a\u0000b\u202e\r\n.jsonl' });

  expect(file).toMatchObject({ id: fileId, bytes: BigInt(3 * KIB), filename: 'ab.jsonl', tokenId: 'token_1' });
  expect(timestampMs(file!.expiresAt!)).toBe(clock.now() + 2 * DAY_MS);
  expect(await readBytes(fileId)).toBe(3 * KIB);
  const { files, hasMore } = await under.files.listFiles({ accountId, limit: 1 });
  expect([files, hasMore]).toEqual([[file], false]);
});

test('the lifetime of a file is its own, and at most that of all files; then its bytes are removed', async () => {
  const short = await keep(10, { lifetimeMs: BigInt(HOUR_MS) });
  const { fileId } = await reserve(10);
  await put(fileId, 20 - 10);
  const { file } = await commit(fileId, { lifetimeMs: BigInt(30 * DAY_MS) });
  expect(timestampMs(file!.expiresAt!)).toBe(clock.now() + 2 * DAY_MS);
  const before = under.blobs().length;

  await clock.advance(HOUR_MS + 60_000);
  expect(await catchRefusal(under.files.getFile({ accountId, fileId: short }))).toMatchObject({
    reason: 'file_not_found',
  });
  expect(await readBytes(short)).toBeUndefined();
  await clock.advance(2 * DAY_MS);
  expect(under.blobs().length).toBeLessThan(before);
});

test('no byte comes in without a reservation of this account, nor more than it says', async () => {
  const { fileId } = await reserve(KIB);

  expect(await put('file_none', 10)).toEqual([503, 'media_busy']);
  expect(await put(fileId, 10, 'other')).toEqual([503, 'media_busy']);
  expect(await put(fileId, KIB + 1)).toEqual([413, 'body_too_large']);
  expect(await put(fileId, KIB)).toEqual([200, KIB]);
  expect(await catchRefusal(commit(fileId, { accountId: 'other' }))).toMatchObject({ reason: 'media_busy' });
});

test('an account has a number of files and of bytes, and an output is never refused', async () => {
  await keep(4 * KIB);
  const full = { kind: 'unprocessable', reason: 'file_limit' };

  expect(await catchRefusal(reserve(3 * KIB))).toMatchObject(full);
  await keep(KIB);
  const last = await keep(10);
  expect(await catchRefusal(reserve(10))).toMatchObject(full);
  expect((await reserve(0, { purpose: FilePurpose.BATCH_OUTPUT })).fileId).toMatch(/^file_/);
  await clock.advance(61_000);
  expect((await under.files.removeFile({ accountId, fileId: last })).removed).toBe(true);
  expect((await reserve(10)).fileId).toMatch(/^file_/);
});

test('an account that is full has no room for more work, and outputs fill it too', async () => {
  const full = { kind: 'unprocessable', reason: 'file_limit' };
  const askRoom = (otherBytes = 0, owner = accountId) =>
    under.client.checkFileRoom({ accountId: owner, otherBytes: BigInt(otherBytes) });
  await askRoom();
  await keep(3 * KIB);
  const { fileId } = await reserve(0, { purpose: FilePurpose.BATCH_OUTPUT });
  await put(fileId, 2 * KIB);
  await askRoom();
  expect(await catchRefusal(askRoom(3 * KIB))).toMatchObject(full);
  await commit(fileId);
  await askRoom();
  const { fileId: more } = await reserve(0, { purpose: FilePurpose.BATCH_OUTPUT });
  await put(more, 2 * KIB);
  await commit(more);

  expect(await catchRefusal(askRoom())).toMatchObject(full);
  await askRoom(0, 'other');
  await under.files.removeFile({ accountId, fileId: more });
  await askRoom();
});

test('what is not committed is no file, and ends by itself', async () => {
  const before = under.blobs().length;
  const { fileId } = await reserve(10);
  await put(fileId, 10);
  await clock.advance(61_000);

  expect(await catchRefusal(commit(fileId))).toMatchObject({ reason: 'media_busy' });
  await clock.advance(HOUR_MS + 60_000);
  expect(under.blobs().length).toBeLessThanOrEqual(before);
});

test('a repeated write under one key gives one file, whatever its bytes are', async () => {
  const keyed = { key: 'batch_1:output', purpose: FilePurpose.BATCH_OUTPUT };
  const first = await reserve(0, keyed);
  await put(first.fileId, 10);
  const second = await reserve(0, keyed);
  expect(second.fileId).toBe(first.fileId);
  expect(await put(second.fileId, 20)).toEqual([200, 10]);
  const { file } = await commit(second.fileId);

  expect((await reserve(0, keyed)).file).toEqual(file);
});

test('a removed file leaves no bytes, and another account cannot remove it', async () => {
  const before = under.blobs().length;
  const fileId = await keep(10);

  expect(await under.files.removeFile({ accountId: 'other', fileId })).toMatchObject({ removed: false });
  expect(await under.files.removeFile({ accountId, fileId })).toMatchObject({ removed: true });
  expect(await under.files.removeFile({ accountId, fileId })).toMatchObject({ removed: false });
  expect(await readBytes(fileId)).toBeUndefined();
  expect(under.blobs().length).toBe(before);
});

test('no link and no reference leads to a file', async () => {
  const fileId = await keep(10);
  const path = `/ximg/${fileId}.bin`;
  const forged = signPath(new Secret('a stranger'), path, Math.floor(clock.now() / 1000) + 60);
  expect((await fetch(`${under.url}${path}?${forged}`)).status).toBe(403);
  for (const url of [`https://gate.example${path}`, path])
    expect(
      await catchRefusal(under.client.stageMedia({ accountId, taskId: 'task_1', category: Category.IMAGE, url })),
    ).toMatchObject({ reason: 'invalid_media' });
  expect(
    await catchRefusal(under.client.stageMedia({ accountId, category: Category.IMAGE, object: fileId })),
  ).toMatchObject({ reason: 'invalid_media' });
});
