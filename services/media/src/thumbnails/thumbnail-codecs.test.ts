import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { encodeVideo, FFMPEG, KINDS } from '../../testing/ffmpeg-videos.ts';
import { startMediaUnderTest } from '../../testing/media-under-test.ts';
import type { MediaUnderTest } from '../../testing/media-under-test.ts';
import { fixture, serves, startOrigin } from '../../testing/origin.ts';
import type { Origin } from '../../testing/origin.ts';

const TEST_MS = 120_000;
const folder = mkdtempSync(path.join(os.tmpdir(), 'media-codecs-'));
let origin: Origin;
let under: MediaUnderTest;

beforeAll(async () => {
  origin = await startOrigin();
  under = await startMediaUnderTest({ section: { ffmpeg: FFMPEG ?? 'off', fetch: { allow: [origin.host] } } });
});
afterAll(async () => {
  await under.close();
  await origin.close();
  rmSync(folder, { recursive: true });
});

(FFMPEG === undefined ? describe.skip : describe)('a result has a thumbnail', () => {
  test.each(['4:2:2', ...Object.keys(KINDS)])(
    'in %s, through ffmpeg',
    async (kind) => {
      const source = encodeVideo(folder, kind);
      if (kind !== '4:2:2' && source === undefined) return;
      const bytes = source === undefined ? fixture('high-422.mp4') : readFileSync(source);
      const { result } = await under.client.ingestResult({
        accountId: 'demo',
        taskId: `task_${kind}`,
        url: origin.url(serves(bytes)),
      });
      const answer = await fetch(`${under.url}/bytes/${result?.object ?? ''}?variant=thumbnail`, {
        headers: { authorization: `Bearer ${under.serviceKey}` },
      });

      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/jpeg']);
      expect(await sharp(Buffer.from(await answer.arrayBuffer())).metadata()).toMatchObject({ format: 'jpeg' });
    },
    TEST_MS,
  );
});
