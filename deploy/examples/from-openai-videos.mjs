// A program for OpenAI's videos API. Only the line of the client is another one here.
import { writeFile } from 'node:fs/promises';
import OpenAI from 'openai';

const client = new OpenAI({ baseURL: `${process.env.REELGATE_URL}/v1`, apiKey: process.env.REELGATE_API_KEY });

let video = await client.videos.create({
  model: 'sora-2',
  prompt: 'a red boat at dawn',
  seconds: '4',
  size: '1280x720',
});
while (video.status === 'queued' || video.status === 'in_progress') {
  await new Promise((resolve) => setTimeout(resolve, 2000));
  video = await client.videos.retrieve(video.id);
}
if (video.status !== 'completed') throw new Error(`${video.id} is ${video.status}: ${video.error?.message}`);
const content = await client.videos.downloadContent(video.id);
await writeFile('boat.mp4', Buffer.from(await content.arrayBuffer()));
console.log(`${video.id} is completed, saved boat.mp4`);
