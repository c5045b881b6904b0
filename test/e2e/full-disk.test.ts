import { readFileSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serves, startOrigin } from '../../services/media/testing/origin.ts';
import type { Origin } from '../../services/media/testing/origin.ts';
import { httpCaller } from '../harness/client.ts';
import type { HttpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program, Shape } from '../harness/program.ts';
import { readAccount } from '../harness/records.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { smallDisk } from '../harness/small-disk.ts';
import { KEYS } from '../harness/test-config.ts';
import { until } from '@reelgate/platform/testing/until';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';

const START_TIMEOUT_MS = 120_000;
const FIXTURES = path.join(import.meta.dirname, '../../services/media/testing/fixtures');
const PNG = readFileSync(path.join(FIXTURES, 'image.png'));

const disk = smallDisk();
afterAll(() => {
  disk?.close();
});

const onDisk = disk === undefined ? describe.skip : describe;

onDisk('while the disk of the blobs is full, in one program,', () => {
  suite('one program', () => undefined);
});

describeWith(natsServer, 'in four processes', (bus) => {
  onDisk('while the disk of the blobs is full,', () => {
    suite('four processes', bus);
  });
});

function suite(shape: Shape, bus: () => string | undefined): void {
  let origin: Origin;
  let upstream: ScriptedUpstream;
  let program: Program;
  let demo: HttpCaller;
  let link: string;
  const blobs = path.join(disk?.folder ?? '', shape.replace(' ', '-'));
  const order = (url: string): object => ({
    model: 'Alpha-H3',
    prompt: 'a boat',
    seconds: '4',
    size: '1280x720',
    input_reference: { image_url: url },
  });
  const orders: readonly (readonly [string, () => object])[] = [
    ['bytes', () => order(`data:image/png;base64,${PNG.toString('base64')}`)],
    ['an address', () => order(origin.url(serves(PNG)))],
  ];

  beforeAll(async () => {
    [origin, upstream] = await Promise.all([startOrigin(), startScriptedUpstream()]);
    program = await newProgram(shape, { upstream: upstream.host, bus: bus() }, (config) => ({
      ...config,
      media: { ...config.media, blobs, fetch: { allow: [upstream.host, origin.host] } },
    }));
    await program.start();
    demo = httpCaller(program.base, KEYS.demo);
    const plain = { model: 'Alpha-H3', prompt: 'a boat', seconds: '4', size: '1280x720' };
    const taskId = await demo.create('/v1/videos', plain);
    link = ((await demo.finish(taskId)).json as { video_url: string }).video_url;
    // The thumbnail of the result is stored beside it.
    await until(() => readdirSync(path.join(blobs, 'incoming')).length === 0);
    disk?.fill();
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await program?.end();
    await Promise.all([upstream?.stop(), origin?.close()]);
    disk?.empty();
    rmSync(blobs, { recursive: true, force: true });
  }, START_TIMEOUT_MS);

  test.each(orders)('an order with %s is refused as temporary and leaves nothing behind', async (_what, body) => {
    const asked = upstream.asked.length;
    const answer = await demo.call('POST', '/v1/videos', body());

    const { status, headers } = answer;
    expect([status, headers.get('x-should-retry'), headers.get('retry-after')]).toEqual([503, null, '5']);
    expect(answer.json).toMatchObject({ error: { code: 'storage_unavailable', type: 'server_error' } });
    expect(upstream.asked.length).toBe(asked);
    expect(readdirSync(path.join(blobs, 'incoming'))).toEqual([]);
    expect(await readAccount(program, 'demo')).toMatchObject({ held: '0' });
  });

  test('stored results are still served', async () => {
    const answer = await fetch(link);

    expect([answer.status, (await answer.arrayBuffer()).byteLength]).toEqual([
      200,
      Number(answer.headers.get('content-length')),
    ]);
  });

  test('every order is accepted once there is room again', async () => {
    disk?.empty();

    for (const [, body] of orders) await demo.create('/v1/videos', body());
  });
}
