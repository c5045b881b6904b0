import path from 'node:path';
import { ConfigError } from '@reelgate/platform/config/config-file';
import {
  address,
  bytes,
  choice,
  duration,
  flag,
  readSection,
  secret,
  section,
  sectionSchema,
  text,
  whole,
} from '@reelgate/platform/config/settings';
import type { EntryOf, ValuesOf } from '@reelgate/platform/config/settings';
import { parseHostPort } from '@reelgate/platform/config/units';
import type { HostPort } from '@reelgate/platform/config/units';
import { drainKeys } from '@reelgate/platform/config/drain-keys';
import { storeKeys, storeSettings } from '@reelgate/platform/sql/store-settings';
import type { StoreSettings } from '@reelgate/platform/sql/store-settings';
import { listenerTls } from '@reelgate/platform/tls/tls-schema';
import type { BlobsConfig } from './blobs/blob-folder.ts';
import { S3_PATTERN, parseS3Address } from './blobs/s3-address.ts';
import { fetchKeys } from './fetch/fetch-settings.ts';
import { fileKeys } from './operations/files/file-settings.ts';
import { CONFINEMENT_LEVELS } from './probe/confinement/levels.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../migrations');
const RECEIVER = 'a host and a port such as hooks.internal:8443 or 127.0.0.1:9000';

/** The section `media`. */
const mediaKeys = {
  listen: address('the address of the gRPC port', { absent: '`127.0.0.1:9103` for callers' }),
  http: address('the address of the port for `/bytes`, `/ximg`, health and metrics', {
    absent: '`127.0.0.1:9113` for callers',
  }),
  tls: listenerTls,
  drain: drainKeys({ default: '90s' }),
  ...storeKeys,
  blobs: text(
    'the path of a folder, or `s3://bucket/folder?endpoint=…&public_endpoint=…&region=…&path_style=true&ca=…`',
    {
      absent: 'a folder in `data_dir`',
      pattern: `^((?!s3:).*|${S3_PATTERN})$`,
      expects:
        'the path of a folder, or s3://bucket/folder?endpoint=…&public_endpoint=…&region=…&path_style=true&' +
        'ca=…; empty: a folder in data_dir',
    },
  ),
  s3: section(
    {
      access_key_id: s3Key('the id of the key of the bucket', { required: true }),
      secret_access_key: s3Key('the key of the bucket', { required: true }),
      session_token: s3Key('the token of a temporary key', {}),
    },
    {},
  ),
  ffmpeg: text('the absolute path of an `ffmpeg` for thumbnails, or `off`; a path that leads to none ends the start', {
    absent: 'the one on the PATH, if there is one',
    pattern: '^(off|/.+)$',
    expects: 'the absolute path of an ffmpeg, or off; empty: the one on the PATH',
  }),
  results: {
    lifetime: duration('how long results are kept', { default: '7d', min: '1ms' }),
    max_bytes: bytes('the largest result', { default: '2GiB', min: '1B', as: 'bytesMax' }),
    parallel: whole('the results that are fetched at one time', { default: 64 }),
    total: duration('the longest fetch of a result', { default: '15m', min: '1ms' }),
    redirect: flag('whether clients are sent to the bucket', { default: false }),
  },
  staged: {
    lifetime: duration('how long frozen inputs are kept', { default: '8d' }),
    presigned: flag('whether channels read frozen inputs in the bucket', {
      absent: 'true if the bucket has a public address',
    }),
    redraw: flag('whether images are redrawn before a channel gets them', { default: true }),
  },
  inline: {
    lifetime: duration('how long inline bytes that nothing removes are kept', { default: '1h' }),
    max_bytes: bytes('the inline bytes of one medium', { default: '64MiB', min: '1B', as: 'bytesMax' }),
    per_account: bytes('the inline bytes of an account at one time, at least `inline.max_bytes`', {
      default: '512MiB',
      as: 'accountBytesMax',
    }),
  },
  files: fileKeys,
  limits: section(
    {
      image: bytes('the largest image', { default: '30MiB', min: '1B', as: 'image' }),
      video: bytes('the largest video', { default: '50MiB', min: '1B', as: 'video' }),
      audio: bytes('the largest audio', { default: '15MiB', min: '1B', as: 'audio' }),
      base_video: bytes('the largest base video', { default: '100MiB', min: '1B', as: 'base_video' }),
    },
    { default: {}, as: 'bytesMax' },
  ),
  probe: {
    timeout: duration('the processor time for one file; by the clock it may take four times as long', {
      default: '5s',
      min: '1ms',
    }),
    heap: bytes('the JavaScript heap of a parser process', { default: '256MiB', min: '1B' }),
    memory: bytes('all memory of a parser process, its heap included', { default: '1GiB', min: '1B' }),
    pixels: whole('the most pixels of a picture', { default: 40_000_000, as: 'pixelsMax' }),
    workers: whole('the parser processes for inputs of clients', { default: 3 }),
    result_workers: whole('the parser processes for results', { default: 5 }),
    queue: whole('the most files that wait for a parser', { default: 256, as: 'queueMax' }),
    queue_per_account: whole('the same, by account', { default: 64, as: 'queuePerAccountMax' }),
    confinement: choice('the level of confinement below which media does not start', CONFINEMENT_LEVELS, {
      default: 'process',
      as: 'leastConfinement',
      expects: CONFINEMENT_LEVELS.join(', '),
    }),
  },
  fetch: fetchKeys,
};

/** The part of the configuration that belongs to this service, by top-level key. */
export const mediaSchema = { media: { ...sectionSchema(mediaKeys), default: {} } };

export type MediaEntry = EntryOf<typeof mediaKeys>;
type MediaValues = ValuesOf<typeof mediaKeys>;

export interface MediaConfig extends Omit<MediaValues, 'url' | 'postgres' | 'mode' | 'blobs' | 's3'> {
  readonly store: StoreSettings;
  readonly blobs: BlobsConfig;
  readonly webhooks: {
    /** Receivers that are called although they are not public or not on port 443: names and addresses. */
    readonly allow: readonly HostPort[];
  };
}

/** A configuration that passed the schema. */
interface CheckedConfig {
  readonly media: MediaEntry;
  /** Of the tasks service, which has its schema. */
  readonly webhooks?: { readonly allow?: readonly string[] };
}

/** Converts a configuration that passed the schema. */
export function mediaConfig(value: unknown): MediaConfig {
  const { media, webhooks } = value as CheckedConfig;
  const { url, postgres, mode, blobs, s3, ...values } = readSection(mediaKeys, media, 'media');
  assertRoomForOne('inline', values.inline);
  assertRoomForOne('files', values.files);
  return {
    ...values,
    store: storeSettings({ url, postgres, mode }, { name: 'media', migrations: MIGRATIONS }),
    blobs: blobsConfig(blobs, s3),
    webhooks: { allow: (webhooks?.allow ?? []).map(readReceiver) },
  };
}

function assertRoomForOne(
  key: string,
  { bytesMax, accountBytesMax }: { readonly bytesMax: number; readonly accountBytesMax: number },
): void {
  if (accountBytesMax < bytesMax)
    throw new ConfigError(`media.${key}.per_account: expected at least media.${key}.max_bytes`);
}

function blobsConfig(blobs: string | undefined, s3: MediaValues['s3']): BlobsConfig {
  if (blobs?.startsWith('s3://') !== true) return { kind: 'folder', path: blobs };
  return { kind: 's3', address: parseS3Address(blobs), credentials: s3 };
}

function s3Key<const O extends { readonly required?: true }>(about: string, options: O) {
  return secret(about, {
    absent: "the SDK's own order: `AWS_…` variables, web identity, the machine's role",
    ...options,
  });
}

/** The host as the URL parser reads it in the URL of a receiver: `127.1` is `127.0.0.1`. */
function readReceiver(entry: string, at: number): HostPort {
  const port = parseHostPort(entry)?.port ?? 0;
  const host = URL.parse(`http://${entry}/`)?.hostname.replace(/^\[|\]$/g, '');
  if (port === 0 || host === undefined || host === '')
    throw new ConfigError(`webhooks.allow.${at}: expected ${RECEIVER}`);
  return { host, port };
}
