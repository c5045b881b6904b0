import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { newIds } from '@reelgate/platform/ids';
import { newAuthority, writeTls } from '@reelgate/platform/testing/certificates';
import { startS3Server } from '../../testing/s3-server.ts';
import type { S3Server } from '../../testing/s3-server.ts';
import { parseS3Address } from './s3-address.ts';
import { openS3Blobs } from './s3-blobs.ts';

const scratch = mkdtempSync(path.join(os.tmpdir(), 'media-s3-tls-'));
const [authority, stranger] = [newAuthority(), newAuthority('a stranger')];
const servers: S3Server[] = [];
beforeAll(async () => {
  servers.push(await startS3Server('127.0.0.1', authority.issue()));
  servers.push(await startS3Server('127.0.0.1', authority.issue({ alternatives: ['DNS:elsewhere'] })));
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
  for (const one of [authority, stranger]) one.end();
  rmSync(scratch, { recursive: true });
});

/** Reads the names of the bucket, which is empty. */
async function names(server: S3Server, ca: string | undefined): Promise<unknown> {
  const query = ca === undefined ? '' : `&ca=${ca}`;
  const blobs = openS3Blobs({
    address: parseS3Address(`s3://${server.bucket}/blobs?endpoint=${server.endpoint}&region=eu-west-1${query}`),
    credentials: server.credentials,
    scratch,
    clock: systemClock,
    newId: newIds(systemClock),
  });
  try {
    return await blobs.list('', 10);
  } finally {
    blobs.close();
  }
}

test('a bucket over TLS is used with the authority of its certificate, which is read again at each connection', async () => {
  const { ca } = writeTls(path.join(scratch, 'renewed'), stranger.issue(), stranger.certificate);
  await expect(names(servers[0]!, ca)).rejects.toThrow();

  writeTls(path.join(scratch, 'renewed'), authority.issue(), authority.certificate);

  expect(await names(servers[0]!, ca)).toEqual([]);
});

test('a bucket whose certificate has another name, or no known authority, is refused', async () => {
  const { ca } = writeTls(path.join(scratch, 'own'), authority.issue(), authority.certificate);

  await expect(names(servers[1]!, ca)).rejects.toThrow();
  await expect(names(servers[0]!, undefined)).rejects.toThrow();
});
