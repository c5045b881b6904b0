import { beforeAll, expect, test } from '@jest/globals';
import { BufferSource, EncodedPacketSink, Input, MP4 } from 'mediabunny';
import { checkBaseVideo, measureMedia } from '../creation/order-from-draft.ts';
import { wallClock } from '../sandbox-clock.ts';
import { renderInWorker } from './render-queue.ts';
import type { PictureOrder } from './picture-order.ts';

const order: PictureOrder = {
  prompt: 'A fox 狐狸',
  resolution: '768P',
  ratio: '16:9',
  seconds: 4,
  caption: 'generation · text only',
};
const { signal } = new AbortController();
let bytes: Uint8Array;
beforeAll(async () => {
  bytes = await renderInWorker(order, signal);
});

test('a video has H.264 and AAC in the ordered size, rate and length', async () => {
  using input = new Input({ source: new BufferSource(bytes), formats: [MP4] });
  const [video, audio] = [await input.getPrimaryVideoTrack(), await input.getPrimaryAudioTrack()];
  const stats = await video?.computePacketStats();

  expect([await video?.getCodec(), await video?.getDisplayWidth(), await video?.getDisplayHeight()]).toEqual([
    'avc',
    1344,
    768,
  ]);
  expect([await audio?.getCodec(), await audio?.getSampleRate(), await audio?.getNumberOfChannels()]).toEqual([
    'aac',
    32_000,
    2,
  ]);
  expect([stats?.packetCount, stats?.averagePacketRate]).toEqual([107, expect.closeTo(24, 3)]);
  expect(await input.computeDuration()).toBeCloseTo(107 / 24, 3);
});

test('a player can seek in a video: the first frame is a key frame, and one every two seconds', async () => {
  using input = new Input({ source: new BufferSource(bytes), formats: [MP4] });
  const video = await input.getPrimaryVideoTrack();
  if (video === null) throw new Error('no video track');

  const keyFrames: number[] = [];
  for await (const { type, timestamp } of new EncodedPacketSink(video).packets())
    if (type === 'key') keyFrames.push(timestamp);

  expect(keyFrames).toEqual([0, 2, 4]);
});

test('a 768P video can be the base of a regeneration', async () => {
  const url = `data:video/mp4;base64,${Buffer.from(bytes).toString('base64')}`;

  const measured = await measureMedia(
    { form: 'video', role: 'base_video', url },
    { clock: wallClock, stopped: signal },
  );

  expect(measured?.picture?.frames).toBe(107);
  expect(() => {
    if (measured) checkBaseVideo(measured);
  }).not.toThrow();
});

test('equal orders give equal bytes', async () => {
  const again = await renderInWorker(order, signal);

  expect(Buffer.compare(again, bytes)).toBe(0);
});

test('a stop ends a rendering that runs', async () => {
  const stopping = new AbortController();
  const rendering = renderInWorker({ ...order, resolution: '2K', seconds: 15 }, stopping.signal);

  stopping.abort();

  await expect(rendering).rejects.toThrow('aborted');
});
