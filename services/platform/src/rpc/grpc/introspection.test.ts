import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { Client, credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MediaService } from '@reelgate/proto/media/v1/media_service';
import { inTime } from '../../../testing/bounded-waits.ts';
import { partialService } from '../../../testing/partial-service.ts';
import { openGrpc } from '../../../testing/rpc-transports.ts';
import type { Opened } from '../../../testing/rpc-transports.ts';

const BUF = path.resolve(import.meta.dirname, '../../../../../node_modules/.bin/buf');

let server: Opened;
beforeAll(async () => {
  server = await openGrpc(
    partialService(MediaService, { removeResult: async ({ taskId }) => ({ removed: taskId === 'task_1' }) }),
  );
});
afterAll(async () => {
  await server.stop();
});

/** Encodes the request by hand: field 4 is a symbol, field 7 requests the services. The answer is compared as bytes. */
function reflect(version: string, field: number, text: string): Promise<string> {
  const client = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
  const stream = client.makeBidiStreamRequest(
    `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
    (bytes: Buffer) => bytes,
    (bytes: Buffer) => bytes.toString('latin1'),
  );
  const answer = new Promise<string>((resolve, reject) => {
    stream.on('data', resolve).on('error', reject);
  });
  stream.write(Buffer.concat([Buffer.from([field * 8 + 2, text.length]), Buffer.from(text)]));
  stream.end();
  return inTime(answer).finally(() => {
    client.close();
  });
}

describe('reflection', () => {
  const curl = (...args: readonly string[]) =>
    promisify(execFile)(BUF, ['curl', '--protocol', 'grpc', '--http2-prior-knowledge', ...args], { timeout: 60_000 });
  const url = (): string => `http://127.0.0.1:${server.port}`;

  test('names the services', async () => {
    expect((await curl('--list-services', url())).stdout.trim().split('\n')).toEqual([
      'grpc.health.v1.Health',
      'reelgate.media.v1.MediaService',
    ]);
  });

  test.each(['v1', 'v1alpha'])('in %s lists health beside the services', async (version) => {
    const answer = await reflect(version, 7, '*');

    expect(answer).toContain('grpc.health.v1.Health');
    expect(answer).toContain('reelgate.media.v1.MediaService');
  });

  test.each(['v1', 'v1alpha'])('in %s resolves the error detail and the messages of health', async (version) => {
    expect(await reflect(version, 4, 'reelgate.problem.v1.Problem')).toContain('retry_after_ms');
    expect(await reflect(version, 4, 'reelgate.problem.v1.Kind')).toContain('KIND_EXHAUSTED');
    expect(await reflect(version, 4, 'google.rpc.BadRequest')).toContain('field_violations');
    expect(await reflect(version, 4, 'grpc.health.v1.HealthCheckResponse')).toContain('NOT_SERVING');
  });

  test('lets a third-party client request the health by its name', async () => {
    const { stdout } = await curl(
      '-d',
      '{"service":"reelgate.media.v1.MediaService"}',
      `${url()}/grpc.health.v1.Health/Check`,
    );

    expect(JSON.parse(stdout)).toEqual({ status: 'SERVING' });
  });

  test('lets a third-party client call a method by its name', async () => {
    const { stdout } = await curl(
      '-H',
      'authorization: Bearer key-of-the-program',
      '-d',
      '{"task_id":"task_1"}',
      `${url()}/reelgate.media.v1.MediaService/RemoveResult`,
    );

    expect(JSON.parse(stdout)).toEqual({ removed: true });
  });

  test('shows that client the reason of a refusal', async () => {
    const refused = curl('-d', '{"task_id":"task_1"}', `${url()}/reelgate.media.v1.MediaService/RemoveResult`);

    await expect(refused).rejects.toMatchObject({ stderr: expect.stringContaining('send the internal caller key') });
  });
});
