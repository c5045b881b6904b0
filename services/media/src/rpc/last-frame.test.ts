import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { inTime } from '@reelgate/platform/testing/bounded-waits';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { startMediaUnderTest } from '../../testing/media-under-test.ts';
import type { MediaUnderTest } from '../../testing/media-under-test.ts';
import { fixture, serves, startOrigin } from '../../testing/origin.ts';
import type { Behaviour, Origin } from '../../testing/origin.ts';

const PAST_TRIES_MS = 11 * 60_000;
/** More than the least speed asks for. */
const PIECE = Buffer.alloc(4096);

const video: Behaviour = serves(fixture('768p.mp4'));
const picture: Behaviour = serves(fixture('small.png'));
const broken: Behaviour = (_request, response) => void response.writeHead(503).end();

let origin: Origin;
let under: MediaUnderTest;
let tasks = 0;
const clock = fakeClock();
const newTask = (): string => `task_${(tasks += 1)}`;

beforeAll(async () => {
  origin = await startOrigin();
  under = await startMediaUnderTest({ clock, section: { fetch: { allow: [origin.host] } } });
});
afterAll(async () => {
  await under.close();
  await origin.close();
});

const ingest = async (lastFrameUrl: string, taskId = newTask(), authorization = ''): Promise<string> => {
  const order = { accountId: 'demo', taskId, url: origin.url(video), lastFrameUrl, authorization };
  return (await under.client.ingestResult(order)).result!.object;
};
async function readLastFrame(object: string): Promise<{ status: number; type: string | null; bytes: Buffer }> {
  const headers = { authorization: `Bearer ${under.serviceKey}` };
  const answer = await fetch(`${under.url}/bytes/${object}?variant=last_frame`, { headers });
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, type: answer.headers.get('content-type'), bytes };
}

test('the picture of the last frame is served beside its video, under a name with its extension', async () => {
  const object = await ingest(origin.url(picture));

  expect(await readLastFrame(object)).toEqual({ status: 200, type: 'image/png', bytes: fixture('small.png') });
});

test('a repeated call fetches only the picture that is missing', async () => {
  const taskId = newTask();
  const without = await ingest('', taskId);
  expect((await readLastFrame(without)).status).toBe(404);
  const before = origin.hits.length;

  const url = origin.url(picture);
  expect(await ingest(url, taskId)).toBe(without);
  expect(await ingest(url, taskId)).toBe(without);

  expect((await readLastFrame(without)).status).toBe(200);
  expect(origin.hits.length).toBe(before + 1);
});

test.each<[string, Behaviour]>([
  ['is no picture', video],
  ['is not readable', serves(Buffer.from('\u0089PNG but not really'))],
])('a picture that %s is left out, and the video is stored', async (_what, behaviour) => {
  const { status, bytes } = await readLastFrame(await ingest(origin.url(behaviour)));

  expect([status, JSON.parse(bytes.toString())]).toMatchObject([404, { error: { code: 'last_frame_unavailable' } }]);
});

test('a picture that cannot be reached is tried again for ten minutes, and then left out', async () => {
  const taskId = newTask();
  const url = origin.url(broken);
  await expect(ingest(url, taskId)).rejects.toMatchObject({ reason: 'result_unreachable' });
  await expect(ingest(url, taskId)).rejects.toMatchObject({ reason: 'result_unreachable' });

  await clock.advance(PAST_TRIES_MS);

  expect((await readLastFrame(await ingest(url, taskId))).status).toBe(404);
});

test('a picture that trickles has the time of a picture, not that of a video', async () => {
  const slow = await startMediaUnderTest({
    section: { fetch: { allow: [origin.host], timeouts: { image_total: '300ms' } } },
  });
  const trickling: Behaviour = (_request, response) => {
    response.writeHead(200, { 'content-type': 'image/png' });
    const timer = setInterval(() => response.write(PIECE), 20);
    response.once('close', () => clearInterval(timer));
  };
  const order = { accountId: 'demo', taskId: newTask(), url: origin.url(video), lastFrameUrl: origin.url(trickling) };

  await expect(inTime(slow.client.ingestResult(order))).rejects.toMatchObject({ reason: 'result_unreachable' });

  await slow.close();
});

test('the credential of the video does not go with the request for its picture', async () => {
  const seen: (string | undefined)[] = [];
  const noting: Behaviour = (request, response) => {
    seen.push(request.headers.authorization);
    picture(request, response);
  };

  await ingest(origin.url(noting), newTask(), 'Bearer upstream-key');

  expect(seen).toEqual([undefined]);
});

test('the picture ends with its video', async () => {
  const taskId = newTask();
  const object = await ingest(origin.url(picture), taskId);

  await under.client.removeResult({ taskId });

  expect((await readLastFrame(object)).status).toBe(410);
  await expect(ingest(origin.url(picture), taskId)).rejects.toMatchObject({ reason: 'result_expired' });
});
