import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { Secret } from '@reelgate/platform/secret';
import { startReplicatedOrigin } from '../../../../test/harness/replicated-origin.ts';
import type { ReplicatedOrigin } from '../../../../test/harness/replicated-origin.ts';
import { readWhole } from '@reelgate/platform/testing/test-server';
import { httpMedia } from './http-media.ts';

const [FIRST, SECOND, THIRD] = ['127.0.0.2', '127.0.0.3', '127.0.0.4'] as const;

let origin: ReplicatedOrigin;
let media: ReturnType<typeof httpMedia>;
let front: Server;
let frontUrl: string;

beforeEach(async () => {
  origin = await startReplicatedOrigin((request, response) => {
    void readWhole(request).then(() => {
      if (request.method === 'PUT') response.end('{"object":"obj_1","bytes":5}');
      else response.writeHead(request.method === 'DELETE' ? 204 : 200).end(request.method === 'GET' ? 'bytes' : '');
    });
  });
  await origin.start(FIRST);
  await origin.start(SECOND);
  origin.name(FIRST, SECOND);
  media = httpMedia({ baseUrl: origin.url, key: new Secret('key'), clock: systemClock, lookup: origin.lookup });
  front = createServer((request, response) => {
    media.serve(request, response, { object: 'obj_1', fileName: 'a.mp4' }).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(front, 'listening');
  frontUrl = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
});

afterEach(async () => {
  await media.close();
  front.close();
  await origin.stop();
});

describe.each<[string, () => Promise<unknown>]>([
  ['a put', () => media.put(Buffer.from('bytes'), { accountId: 'demo', bytesMax: 9 })],
  ['a removal', () => media.remove(['obj_1'])],
  [
    'a read',
    async () => {
      for await (const part of (await media.read('obj_1'))!) expect(String(part)).toBe('bytes');
    },
  ],
  ['a download', async () => expect(await (await fetch(frontUrl)).text()).toBe('bytes')],
])('%s from media with several replicas behind its name', (_what, request) => {
  const requests = async (): Promise<Readonly<Record<string, number>>> => {
    origin.answered();
    for (let made = 0; made < 6; made += 1) await request();
    return origin.answered();
  };

  test('goes to each replica', async () => {
    expect(await requests()).toEqual({ [FIRST]: 3, [SECOND]: 3 });
  });

  test('goes to another replica where one is gone that the name still has', async () => {
    await requests();
    await origin.stopReplica(FIRST);

    expect(await requests()).toEqual({ [SECOND]: 6 });
  });

  test('goes to an added replica from the next resolution on, and to a removed one no more', async () => {
    await requests();
    await origin.start(THIRD);
    origin.name(SECOND, THIRD);

    expect(await requests()).toEqual({ [SECOND]: 3, [THIRD]: 3 });
  });
});
