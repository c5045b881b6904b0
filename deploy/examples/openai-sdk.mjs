// Makes a video with the OpenAI SDK, waits for it, and saves it.
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import OpenAI from 'openai';

const { REELGATE_URL = 'http://127.0.0.1:8080', REELGATE_API_KEY } = process.env;
const client = new OpenAI({ apiKey: REELGATE_API_KEY, baseURL: `${REELGATE_URL}/v1` });
// Each call is bounded, and repeated after faults that pass.
const CALL = { timeout: 60_000, maxRetries: 20 };

let video = await client.videos.create(
  { model: 'Alpha-H3', prompt: 'a red boat at dawn', seconds: '4', size: '1280x720' },
  // With a key, a create whose answer was lost is sent again and makes no second video.
  { ...CALL, headers: { 'Idempotency-Key': `boat-${randomUUID()}` } },
);
// The loop has no limit of its own: the gateway ends each task, at the latest when its operator decides.
while (video.status !== 'completed') {
  if (video.status === 'failed') throw new Error(`${video.id} failed: ${video.error?.message}`);
  const { data, response } = await client.videos.retrieve(video.id, CALL).withResponse();
  video = data;
  console.log(`${video.id} is ${video.status}, ${video.progress} %`);
  // The gateway says when the next read can show something new.
  if (video.status !== 'completed') await wait(Number(response.headers.get('openai-poll-after-ms') ?? 2000));
}
const content = await client.videos.downloadContent(video.id, {}, CALL);
await writeFile('boat.mp4', Buffer.from(await content.arrayBuffer()));
console.log('saved boat.mp4');
