import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Category } from '@reelgate/proto/media/v1/media_service';
import { startMediaUnderTest } from '../../testing/media-under-test.ts';
import type { MediaUnderTest } from '../../testing/media-under-test.ts';
import { fixture, serves, startOrigin } from '../../testing/origin.ts';
import type { Origin } from '../../testing/origin.ts';

const NAME = 'prv_0123456789abcdefghij';
let origin: Origin;
let under: MediaUnderTest;
let before: readonly string[];
beforeAll(async () => {
  origin = await startOrigin();
  under = await startMediaUnderTest({ section: { fetch: { allow: [origin.host] } } });
});
afterAll(async () => {
  await under.close();
  await origin.close();
});
beforeEach(() => {
  before = under.blobs();
});

const ask = (path: string, method: string, bytes?: string, key = under.serviceKey): Promise<Response> =>
  fetch(`${under.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}` },
    ...(bytes === undefined ? {} : { body: bytes }),
  });
const objectOf = async (answer: Response): Promise<string> => ((await answer.json()) as { object: string }).object;

test('inline and private bytes are removed immediately, by the internal services only', async () => {
  const inline = await objectOf(await ask('/bytes?account=demo', 'PUT', 'inline bytes'));
  expect(await objectOf(await ask(`/bytes?account=demo&private_ms=60000&object=${NAME}`, 'PUT', 'private bytes'))).toBe(
    NAME,
  );
  const { result } = await under.client.ingestResult({
    accountId: 'demo',
    taskId: 'task_1',
    url: origin.url(serves(fixture('768p.mp4'))),
  });
  // the thumbnail is drawn in the background; after it no further file appears
  expect((await ask(`/bytes/${result!.object}?variant=thumbnail`, 'GET')).status).toBe(200);
  expect(under.blobs().length).toBeGreaterThan(before.length + 2);

  expect((await ask(`/bytes/${inline}`, 'DELETE', undefined, 'wrong')).status).toBe(401);
  for (const id of [inline, NAME, NAME, result!.object]) expect((await ask(`/bytes/${id}`, 'DELETE')).status).toBe(204);
  expect([
    (await ask(`/bytes/${inline}`, 'GET')).status,
    (await ask(`/bytes/${NAME}`, 'GET')).status,
    (await ask(`/bytes/${result!.object}`, 'HEAD')).status,
  ]).toEqual([404, 404, 200]);
  expect(under.blobs().filter((name) => !name.startsWith(result!.sha256)).length).toBeLessThanOrEqual(
    before.length + 1,
  );
});

test('a name keeps its first bytes', async () => {
  const put = (bytes: string, accountId = 'demo') =>
    under.media.bytes.put(Buffer.from(bytes), { accountId, privateMs: 60_000, object: 'prv_abcdefghij0123456789' });
  await put('these');

  expect((await put('these')).object).toBe('prv_abcdefghij0123456789');
  await expect(put('those')).rejects.toThrow('given to other bytes');
  await expect(put('these', 'other')).rejects.toThrow('given to other bytes');
  expect(under.blobs().length).toBe(before.length + 1);
});

test('RemoveStaged removes the media of one task, and a staging that ends later keeps nothing', async () => {
  const stage = (taskId: string, url: string) =>
    under.client.stageMedia({ accountId: 'demo', taskId, category: Category.IMAGE, url });
  const { promise: asked, resolve: tellAsked } = Promise.withResolvers<undefined>();
  const { promise: opened, resolve: open } = Promise.withResolvers<undefined>();
  const slow = origin.url((request, response) => {
    tellAsked(undefined);
    void opened.then(() => {
      serves(fixture('image.jpg'))(request, response);
    });
  });
  await stage('task_2', origin.url(serves(fixture('image.png'))));
  const kept = under.blobs();
  await stage('task_3', origin.url(serves(fixture('image.png'))));
  await stage('task_3', origin.url(serves(fixture('image.webp'))));
  const late = stage('task_3', slow);
  await asked;

  await under.client.removeStaged({ accountId: 'other', taskId: 'task_2' });
  await stage('task_2', origin.url(serves(fixture('image.png'))));
  await under.client.removeStaged({ accountId: 'demo', taskId: 'task_3' });
  open(undefined);
  await expect(late).rejects.toMatchObject({ reason: 'media_busy' });
  expect(under.blobs()).toEqual(kept);
  await under.client.removeStaged({ accountId: 'demo', taskId: 'task_3' });
  await expect(stage('task_3', origin.url(serves(fixture('image.png'))))).rejects.toMatchObject({
    reason: 'media_busy',
  });
  expect(under.blobs()).toEqual(kept);
});

test.each(['account_id', 'task_id'])('staged media are not removed without a %s', async (field) => {
  await expect(
    under.client.removeStaged({
      accountId: 'demo',
      taskId: 'task_9',
      [field === 'task_id' ? 'taskId' : 'accountId']: '',
    }),
  ).rejects.toMatchObject({ kind: 'invalid', field });
});
