import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { newIds } from '@reelgate/platform/ids';
import { Secret } from '@reelgate/platform/secret';
import { describeBlobStore } from '../../testing/blob-store-suite.ts';
import { startS3Server } from '../../testing/s3-server.ts';
import type { S3Server } from '../../testing/s3-server.ts';
import { openIncoming } from './incoming.ts';
import type { IncomingFolder } from './incoming.ts';
import { parseS3Address } from './s3-address.ts';
import { openS3Blobs } from './s3-blobs.ts';

const scratch = mkdtempSync(path.join(os.tmpdir(), 'media-scratch-'));
const newId = newIds(systemClock);
let server: S3Server;
let incoming: IncomingFolder;
let blobs: ReturnType<typeof openS3Blobs>;

const opened = (folder: string, credentials = server.credentials) =>
  openS3Blobs({
    address: parseS3Address(`s3://${server.bucket}${folder}?endpoint=${server.endpoint}&region=eu-west-1`),
    credentials,
    scratch,
    clock: systemClock,
    newId,
  });
const keep = async (text: string): Promise<string> => {
  const draft = await incoming.begin(text.length);
  await draft.append([Buffer.from(text)]);
  const key = newId('key');
  await blobs.keep(key, await draft.finish());
  return key;
};

beforeAll(async () => {
  server = await startS3Server();
  incoming = openIncoming(scratch, newId);
  blobs = opened('/blobs');
});
afterAll(async () => {
  blobs.close();
  await server.close();
  rmSync(scratch, { recursive: true });
});

describe('blobs in a bucket', () => {
  describeBlobStore(() => ({ blobs, incoming, leftBehind: () => readdirSync(scratch) }));

  test('lie under the folder of the address, invisible from another folder', async () => {
    const key = await keep('mine');
    const elsewhere = opened('/other');

    expect(await elsewhere.findSize(key)).toBeUndefined();
    expect(await elsewhere.list('', 10)).toEqual([]);
    elsewhere.close();
  });

  test('have links that serve any reader, whole and in part, with the given type and name', async () => {
    const key = await keep('0123456789');
    const link = await blobs.linkTo(key, { method: 'GET', mediaType: 'video/mp4', fileName: 'a.mp4', secondsLeft: 60 });
    const whole = await fetch(link!);
    const part = await fetch(link!, { headers: { range: 'bytes=2-4' } });
    const head = await fetch(
      (await blobs.linkTo(key, { method: 'HEAD', mediaType: 'video/mp4', fileName: 'a.mp4', secondsLeft: 60 }))!,
      { method: 'HEAD' },
    );

    expect([
      whole.status,
      whole.headers.get('content-type'),
      whole.headers.get('content-disposition'),
      await whole.text(),
    ]).toEqual([200, 'video/mp4', 'inline; filename="a.mp4"', '0123456789']);
    expect([part.status, await part.text()]).toEqual([206, '234']);
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '10']);
  });

  // the test server does not check version 4 signatures, so the test compares their parts
  test('have addresses that expire, each for one key and one method', async () => {
    const key = await keep('secret');
    const linkOf = async (name: string, method: 'GET' | 'HEAD'): Promise<URLSearchParams> =>
      new URL((await blobs.linkTo(name, { method, mediaType: 'video/mp4', fileName: 'a.mp4', secondsLeft: 61 }))!)
        .searchParams;
    const [one, head, another] = [
      await linkOf(key, 'GET'),
      await linkOf(key, 'HEAD'),
      await linkOf(await keep('other'), 'GET'),
    ];

    expect(one.get('X-Amz-Expires')).toBe('61');
    expect(new Set([one, head, another].map((each) => each.get('X-Amz-Signature'))).size).toBe(3);
    expect(one.toString()).not.toContain(server.credentials.secretAccessKey.reveal().concat('&'));
  });

  test('of a bucket that denies access are a fault, not an empty key', async () => {
    const stranger = opened('/blobs', {
      accessKeyId: new Secret('stranger'),
      secretAccessKey: new Secret('wrong'),
      sessionToken: undefined,
    });

    await expect(stranger.open(await keep('x'))).rejects.toThrow();
    await expect(stranger.check()).rejects.toThrow();
    stranger.close();
  });
});

describe('the address of a bucket', () => {
  test.each([
    [
      's3://bucket',
      {
        bucket: 'bucket',
        prefix: '',
        endpoint: undefined,
        publicEndpoint: undefined,
        region: 'us-east-1',
        pathStyle: false,
      },
    ],
    [
      's3://bucket/a/b/?region=eu-west-1',
      {
        bucket: 'bucket',
        prefix: 'a/b/',
        endpoint: undefined,
        publicEndpoint: undefined,
        region: 'eu-west-1',
        pathStyle: false,
      },
    ],
    [
      's3://b-1.x?endpoint=http://minio:9000',
      {
        bucket: 'b-1.x',
        prefix: '',
        endpoint: 'http://minio:9000',
        publicEndpoint: 'http://minio:9000',
        region: 'us-east-1',
        pathStyle: true,
      },
    ],
    [
      's3://bucket?endpoint=http://minio:9000&public_endpoint=https://files.example&path_style=false',
      {
        bucket: 'bucket',
        prefix: '',
        endpoint: 'http://minio:9000',
        publicEndpoint: 'https://files.example',
        region: 'us-east-1',
        pathStyle: false,
      },
    ],
  ])('%s', (text, address) => {
    expect(parseS3Address(text)).toEqual(address);
  });
});
