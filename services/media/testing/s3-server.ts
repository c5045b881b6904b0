import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import S3rver from 's3rver';
import { Secret } from '@reelgate/platform/secret';
import type { Issued } from '@reelgate/platform/testing/certificates';
import type { S3Credentials } from '../src/blobs/s3-address.ts';
import { keepWhole } from './whole-objects.ts';

/** An S3 server on one address with one bucket and one pair of keys. */
export interface S3Server {
  /** `http://address:port` */
  readonly endpoint: string;
  readonly bucket: string;
  readonly credentials: S3Credentials;
  close(): Promise<void>;
}

const BUCKET = 'reelgate-blobs';
/** The only pair of keys that this server knows. */
export const S3_KEYS = { access_key_id: 'S3RVER', secret_access_key: 'S3RVER' } as const;

/** With a certificate the server speaks TLS. */
export async function startS3Server(address = '127.0.0.1', tls?: Issued): Promise<S3Server> {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'media-s3-'));
  const scratch = mkdtempSync(path.join(os.tmpdir(), 'media-s3-incoming-'));
  const server = new S3rver({
    directory,
    address,
    port: 0,
    silent: true,
    ...(tls === undefined ? {} : { cert: tls.certificate, key: tls.key }),
    configureBuckets: [{ name: BUCKET }],
  });
  keepWhole(server.store, scratch);
  const { port } = await server.run();
  return {
    endpoint: `${tls === undefined ? 'http' : 'https'}://${address}:${port}`,
    bucket: BUCKET,
    credentials: {
      accessKeyId: new Secret(S3_KEYS.access_key_id),
      secretAccessKey: new Secret(S3_KEYS.secret_access_key),
      sessionToken: undefined,
    },
    close: async () => {
      server.httpServer.closeAllConnections();
      await server.close();
      for (const folder of [directory, scratch]) rmSync(folder, { recursive: true, force: true });
    },
  };
}
