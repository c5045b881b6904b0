import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { aPrompt } from '../testing/bodies.ts';
import { fakeVideo, generationPath, runningSandbox, type RunningSandbox } from '../testing/running-sandbox.ts';

let sandbox: RunningSandbox;
beforeEach(async () => {
  sandbox = await runningSandbox({ publicHost: 'http://results.test/' });
});
afterEach(() => sandbox.stop());

const finished = async (prompt: string): Promise<string> => {
  const id = await sandbox.created(generationPath, aPrompt(prompt));
  sandbox.clock.advance(3000);
  return id;
};

const linkOf = async (id: string): Promise<string> => {
  const { content } = await sandbox.task(id);
  return (content?.url ?? '').replace('http://results.test', '');
};

const fetched = (link: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
  fetch(`${sandbox.url}${link}`, { method, headers });

test('a result link needs no key and gives the whole video', async () => {
  const response = await fetched(await linkOf(await finished('A fox')));

  expect([response.status, response.headers.get('content-type'), response.headers.get('accept-ranges')]).toEqual([
    200,
    'video/mp4',
    'bytes',
  ]);
  expect(await response.bytes()).toEqual(fakeVideo);
});

test.each<[string, number, number, string]>([
  ['bytes=0-99', 0, 100, 'bytes 0-99/1000'],
  ['bytes=990-', 990, 1000, 'bytes 990-999/1000'],
  ['bytes=-10', 990, 1000, 'bytes 990-999/1000'],
  ['bytes=900-5000', 900, 1000, 'bytes 900-999/1000'],
])('the range %s gives that part of the video', async (range, from, to, contentRange) => {
  const response = await fetched(await linkOf(await finished('A fox')), { range });

  expect([response.status, response.headers.get('content-range')]).toEqual([206, contentRange]);
  expect(await response.bytes()).toEqual(fakeVideo.subarray(from, to));
});

test('a range past the end is answered 416', async () => {
  const response = await fetched(await linkOf(await finished('A fox')), { range: 'bytes=1000-' });

  expect([response.status, response.headers.get('content-range')]).toEqual([416, 'bytes */1000']);
});

test('HEAD gives the length without the bytes', async () => {
  const response = await fetched(await linkOf(await finished('A fox')), {}, 'HEAD');

  expect([response.status, response.headers.get('content-length'), (await response.bytes()).length]).toEqual([
    200,
    '1000',
    0,
  ]);
});

test('every query signs a new link, and the older link still works', async () => {
  const id = await finished('A fox');

  const [first, second] = [await linkOf(id), await linkOf(id)];

  expect(second).not.toBe(first);
  expect([(await fetched(first)).status, (await fetched(second)).status]).toEqual([200, 200]);
});

test('a link stops working after an hour, and a new link then works', async () => {
  const id = await finished('A fox');
  const old = await linkOf(id);
  sandbox.clock.advance(3_600_000);

  expect([(await fetched(old)).status, (await fetched(await linkOf(id))).status]).toEqual([403, 200]);
});

test('a link with a changed expiry or a changed task is refused', async () => {
  const link = await linkOf(await finished('A fox'));
  const other = await finished('A bear');

  const longer = link.replace(/expires=\d+/, 'expires=9999999999');
  const elsewhere = link.replace(/\d{15}/, other);

  expect([(await fetched(longer)).status, (await fetched(elsewhere)).status]).toEqual([403, 403]);
});

test('the result of a deleted task is gone', async () => {
  const id = await finished('A fox');
  const link = await linkOf(id);
  await sandbox.call('DELETE', `${generationPath}/${id}`);

  expect((await fetched(link)).status).toBe(404);
});

test('the result link of [dead-link] answers 404', async () => {
  expect((await fetched(await linkOf(await finished('[dead-link]')))).status).toBe(404);
});

test('the result link of [html-link] answers with a page', async () => {
  const response = await fetched(await linkOf(await finished('[html-link]')));

  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
});

test('the result link of [torn-link] declares the full length and breaks off half way', async () => {
  const response = await fetched(await linkOf(await finished('[torn-link]')));

  expect(response.headers.get('content-length')).toBe('1000');
  await expect(response.bytes()).rejects.toThrow('terminated');
});
