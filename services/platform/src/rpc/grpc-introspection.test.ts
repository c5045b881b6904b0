import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { Client, credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MediaService } from '@reelgate/proto/media/v1/media_service';
import { inTime } from '../../testing/bounded-waits.ts';
import { openGrpc } from '../../testing/rpc-transports.ts';
import type { Opened } from '../../testing/rpc-transports.ts';
import { bind } from './service.ts';

const BUF = path.resolve(import.meta.dirname, '../../../../node_modules/.bin/buf');
const SERVING = 1;
const NOT_FOUND = 5;

let server: Opened;
beforeAll(async () => {
  server = await openGrpc(bind(MediaService, { stageMedia: async () => ({}), ingestResult: async () => ({}), removeResult: async ({ taskId }) => ({ removed: taskId === 'task_1' }), linkObject: async () => ({}), removePrivate: async () => ({}) }));
});
afterAll(async () => {
  await server.stop();
});

/** As any health probe asks: field 1 of the request is the service, field 1 of the answer its state. */
async function health(service: string): Promise<number> {
  const client = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
  const request = Buffer.concat([Buffer.from([0x0a, service.length]), Buffer.from(service)]);
  try {
    return await inTime(new Promise<number>((resolve, reject) => {
      client.makeUnaryRequest('/grpc.health.v1.Health/Check', (bytes: Buffer) => bytes, (bytes: Buffer) => bytes.readUInt8(1), request, (error, state) => {
        if (error === null) resolve(state!);
        else reject(error);
      });
    }));
  } finally {
    client.close();
  }
}

describe('health', () => {
  test.each(['', 'reelgate.media.v1.MediaService'])('of %p is: serving, without a key', async (service) => {
    expect(await health(service)).toBe(SERVING);
  });

  test('of a service that is not here is: not found', async () => {
    await expect(health('reelgate.none.v1.None')).rejects.toMatchObject({ code: NOT_FOUND });
  });
});

describe('reflection', () => {
  const curl = (...args: readonly string[]) => promisify(execFile)(BUF, ['curl', '--protocol', 'grpc', '--http2-prior-knowledge', ...args], { timeout: 20_000 });
  const url = (): string => `http://127.0.0.1:${server.port}`;

  test('names the services', async () => {
    expect((await curl('--list-services', url())).stdout.trim().split('\n')).toEqual(['reelgate.media.v1.MediaService']);
  });

  test('lets a stranger’s client call a method by its name', async () => {
    const { stdout } = await curl('-H', 'authorization: Bearer key-of-the-program', '-d', '{"task_id":"task_1"}', `${url()}/reelgate.media.v1.MediaService/RemoveResult`);

    expect(JSON.parse(stdout)).toEqual({ removed: true });
  });

  test('tells that client why it is refused', async () => {
    const refused = curl('-d', '{"task_id":"task_1"}', `${url()}/reelgate.media.v1.MediaService/RemoveResult`);

    await expect(refused).rejects.toMatchObject({ stderr: expect.stringContaining('send the internal caller key') });
  });
});
