import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Agent } from 'node:https';
import type { AgentOptions } from 'node:https';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import { newSemaphore } from '@reelgate/platform/limits/semaphore';
import { rereadTls } from '@reelgate/platform/tls/tls-files';
import type { BlobStore, LinkOptions, StoredBlob } from './blob-store.ts';
import { checkKey } from './blob-store.ts';
import type { ReceivedFile } from './incoming.ts';
import type { S3Address, S3Credentials } from './s3-address.ts';

const CONNECT_TIMEOUT_MS = 5000;
/** The time until the headers of an answer, and between two pieces of a body. */
const SILENCE_MS = 30_000;
const SOCKETS_MAX = 256;
const ATTEMPTS_MAX = 3;

/** The memory of uploads is the product of the three. */
const PART_BYTES_MIN = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 2;
const UPLOADS_AT_ONCE = 4;
const UPLOADS_WAITING_MAX = 10_000;
const PARTS_MAX = 10_000;
/** The maximum number of keys on one page, as the protocol defines it. */
const LIST_MAX = 1000;
const CHECK_TIMEOUT_MS = 3000;

export interface S3BlobsOptions {
  readonly address: S3Address;
  readonly credentials: S3Credentials | undefined;
  /** The folder for local copies. Each start empties it, as it empties the folder of incoming files. */
  readonly scratch: string;
  readonly clock: Clock;
  readonly newId: NewId;
}

/** Stores blobs in a bucket. It uploads complete files of a known size. A key is empty until its file is complete. */
export function openS3Blobs({
  address,
  credentials,
  scratch,
  clock,
  newId,
}: S3BlobsOptions): BlobStore & { close(): void } {
  const client = s3Client(address, address.endpoint, credentials);
  const publicClient = s3Client(address, address.publicEndpoint, credentials);
  const uploads = newSemaphore({ permits: UPLOADS_AT_ONCE, waitingMax: UPLOADS_WAITING_MAX });
  const at = (key: string): { Bucket: string; Key: string } => ({
    Bucket: address.bucket,
    Key: address.prefix + checkKey(key),
  });
  const open: BlobStore['open'] = (key, range) =>
    orNothing(async () => {
      const { Body } = await client.send(
        new GetObjectCommand({
          ...at(key),
          ...(range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` }),
        }),
      );
      return Body as Readable | undefined;
    });

  return {
    keep: async (key, file) => {
      await uploads.run(() => upload(client, at(key), file));
      await file.discard();
    },
    has: async (key, bytes) => (await readObjectSize(client, at(key))) === bytes,
    findSize: (key) => readObjectSize(client, at(key)),
    open,
    pieces: open,
    withFile: async (key, work) => {
      const source = await open(key);
      if (source === undefined) return undefined;
      const copy = path.join(scratch, newId('s3'));
      try {
        await pipeline(source, createWriteStream(copy, { flags: 'wx', mode: 0o600 }));
        return await work(copy);
      } finally {
        await rm(copy, { force: true });
      }
    },
    linkTo: (key, options) => presign(publicClient, at(key), { ...options, now: clock.now() }),
    list: (after, limit) => listPage(client, address, after, limit),
    remove: async (key) => {
      await client.send(new DeleteObjectCommand(at(key)));
    },
    check: async () => {
      await client.send(new HeadBucketCommand({ Bucket: address.bucket }), {
        abortSignal: AbortSignal.timeout(CHECK_TIMEOUT_MS),
      });
    },
    close: () => {
      client.destroy();
      publicClient.destroy();
    },
  };
}

function readObjectSize(
  client: S3Client,
  object: { readonly Bucket: string; readonly Key: string },
): Promise<number | undefined> {
  return orNothing(async () => (await client.send(new HeadObjectCommand(object))).ContentLength);
}

async function listPage(
  client: S3Client,
  { bucket, prefix }: S3Address,
  after: string,
  limit: number,
): Promise<readonly StoredBlob[]> {
  // every store knows the first version of this call
  const { Contents = [] } = await client.send(
    new ListObjectsCommand({
      Bucket: bucket,
      Prefix: prefix,
      MaxKeys: Math.min(limit, LIST_MAX),
      ...(after === '' ? {} : { Marker: prefix + after }),
    }),
  );
  return Contents.map(({ Key = '', Size = 0 }) => ({ key: Key.slice(prefix.length), bytes: Size }));
}

/** Uploads a small file in one request and a larger one in parts. The parts of a failed upload are removed. */
async function upload(
  client: S3Client,
  at: { readonly Bucket: string; readonly Key: string },
  file: ReceivedFile,
): Promise<void> {
  const partSize = Math.max(PART_BYTES_MIN, Math.ceil(file.bytes / PARTS_MAX));
  const body = createReadStream(file.path);
  try {
    await new Upload({
      client,
      params: { ...at, Body: body, ContentType: 'application/octet-stream' },
      partSize,
      queueSize: PARTS_AT_ONCE,
    }).done();
  } finally {
    body.destroy();
  }
}

async function presign(
  client: S3Client,
  at: { readonly Bucket: string; readonly Key: string },
  { method, mediaType, fileName, secondsLeft, now }: LinkOptions & { readonly now: number },
): Promise<string> {
  const told = {
    ...at,
    ResponseContentType: mediaType,
    ResponseContentDisposition: `inline; filename="${fileName}"`,
    ResponseCacheControl: 'private',
  };
  const options = { expiresIn: secondsLeft, signingDate: new Date(now) };
  return method === 'HEAD'
    ? getSignedUrl(client, new HeadObjectCommand(told), options)
    : getSignedUrl(client, new GetObjectCommand(told), options);
}

const NOTHING: ReadonlySet<string> = new Set(['NoSuchKey', 'NotFound', 'InvalidRange']);

async function orNothing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (NOTHING.has((error as { readonly name?: string }).name ?? '')) return undefined;
    throw error;
  }
}

/** Without credentials the SDK uses its own order: environment variables, a web identity, the machine's role. */
function s3Client(
  { region, pathStyle, ca }: S3Address,
  endpoint: string | undefined,
  credentials: S3Credentials | undefined,
): S3Client {
  const agent = { maxSockets: SOCKETS_MAX, keepAlive: true };
  return new S3Client({
    region,
    forcePathStyle: pathStyle,
    maxAttempts: ATTEMPTS_MAX,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: SILENCE_MS,
      throwOnRequestTimeout: true,
      socketTimeout: SILENCE_MS,
      httpAgent: agent,
      httpsAgent: ca === undefined ? agent : agentTrusting(ca, agent),
    },
    // many S3-compatible stores refuse the checksums that the SDK adds by default
    ...(endpoint === undefined
      ? {}
      : { endpoint, requestChecksumCalculation: 'WHEN_REQUIRED', responseChecksumValidation: 'WHEN_REQUIRED' }),
    ...(credentials === undefined ? {} : { credentials: revealCredentials(credentials) }),
  });
}

/** Reads the authorities again for each connection. */
function agentTrusting(ca: string, options: AgentOptions): Agent {
  const newest = rereadTls({ ca });
  class TrustingAgent extends Agent {
    override createConnection(...[to, done]: Parameters<Agent['createConnection']>) {
      return super.createConnection({ ...to, ...newest() }, done);
    }
  }
  return new TrustingAgent(options);
}

function revealCredentials({ accessKeyId, secretAccessKey, sessionToken }: S3Credentials) {
  return {
    accessKeyId: accessKeyId.reveal(),
    secretAccessKey: secretAccessKey.reveal(),
    ...(sessionToken === undefined ? {} : { sessionToken: sessionToken.reveal() }),
  };
}
