import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { S3_KEYS, startS3Server } from '../../services/media/testing/s3-server.ts';
import type { S3Server } from '../../services/media/testing/s3-server.ts';
import { httpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { KEYS } from '../harness/test-config.ts';

const VIDEO = readFileSync(path.join(import.meta.dirname, '../../services/media/testing/fixtures/768p.mp4'));
const START_TIMEOUT_MS = 120_000;

describe.each([
  ['passed through', false],
  ['sent for to the bucket', true],
])('the whole program with its blobs in a bucket, %s', (_how, redirect) => {
  let server: S3Server;
  let upstream: ScriptedUpstream;
  let program: Program;

  beforeAll(async () => {
    [server, upstream] = await Promise.all([startS3Server(), startScriptedUpstream()]);
    program = await newProgram('one program', { upstream: upstream.host }, (config) => ({
      ...config,
      media: {
        ...config.media,
        blobs: `s3://${server.bucket}/kept?endpoint=${server.endpoint}`,
        s3: S3_KEYS,
        results: { redirect },
      },
    }));
    await program.start();
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await program?.end();
    await Promise.all([server?.close(), upstream?.stop()]);
  }, START_TIMEOUT_MS);

  test('a task is made, polled and downloaded, whole and in part, and its blobs are in order', async () => {
    const demo = httpCaller(program.base, KEYS.demo);
    const fixture = path.join(import.meta.dirname, '../../services/media/testing/fixtures/image.png');
    const image = `data:image/png;base64,${readFileSync(fixture).toString('base64')}`;
    const taskId = await demo.create('/v2/video_generation', {
      model: 'Alpha-H3',
      duration: 5,
      resolution: '768P',
      ratio: 'adaptive',
      content: [
        { type: 'text', text: 'a red boat' },
        { type: 'image_url', role: 'first_frame', image_url: { url: image } },
      ],
    });
    const { video_url: link } = (await demo.finish(taskId)).json as { video_url: string };
    const content = `${program.base}/v1/videos/${taskId}/content`;
    const headers = { authorization: `Bearer ${KEYS.demo}` };

    for (const [address, given] of [
      [content, headers],
      [link, {}],
    ] as const) {
      expect(Buffer.from(await (await fetch(address, { headers: given })).arrayBuffer()).equals(VIDEO)).toBe(true);
      const part = await fetch(address, { headers: { ...given, range: 'bytes=10-19' } });
      expect([part.status, Buffer.from(await part.arrayBuffer()).equals(VIDEO.subarray(10, 20))]).toEqual([206, true]);
    }
    expect((await fetch(content, { headers, redirect: 'manual' })).status).toBe(redirect ? 302 : 200);

    const thumbnail = await fetch(`${content}?variant=thumbnail`, { headers });
    expect([thumbnail.status, Buffer.from(await thumbnail.arrayBuffer()).toString('hex', 0, 2)]).toEqual([200, 'ffd8']);

    const verified = await program.command('media', 'verify');
    expect([verified.code, verified.json]).toEqual([
      0,
      { checked: 3, bytes: expect.stringMatching(/^\d+$/), faults: [], next: '' },
    ]);
    await fetch(`${server.endpoint}/${server.bucket}/${await aKeyIn(server)}`, { method: 'DELETE' });
    expect((await program.command('media', 'verify')).code).toBe(1);
  }, 120_000);
});

async function aKeyIn({ endpoint, bucket }: S3Server): Promise<string> {
  const listing = await (await fetch(`${endpoint}/${bucket}`)).text();
  return /<Key>([^<]+)<\/Key>/.exec(listing)![1]!;
}
