import path from 'node:path';
import { ConfigError } from '@reelgate/platform/config/config-file';
import { parseBytes, parseDuration, parseHostPort } from '@reelgate/platform/config/units';
import type { HostPort } from '@reelgate/platform/config/units';
import { Secret } from '@reelgate/platform/secret';
import { storeSettings } from '@reelgate/platform/sql/store-settings';
import type { StoreSettings } from '@reelgate/platform/sql/store-settings';
import type { BlobsConfig } from './blobs/blob-folder.ts';
import { parseS3Address } from './blobs/s3-address.ts';
import type { S3Credentials } from './blobs/s3-address.ts';
import { ADDRESS_AND_PORT, DNS_SERVER, RECEIVER } from './config-schema.ts';
import type { AllowEntry, CheckedConfig, CheckedS3, Values } from './config-schema.ts';
import type { Category } from './domain/media-rules.ts';
import type { FileSettings } from './operations/files/keep-files.ts';
import { isAddress } from './fetch/addresses/address-policy.ts';
import type { FetchConfig, FetchException } from './fetch/fetch-settings.ts';
import type { ConfinementLevel } from './probe/confinement/levels.ts';

export { mediaSchema } from './config-schema.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../migrations');
const DNS_PORT = 53;
/** The largest input of a batch by OpenAI's contract. */
const FILE_BYTES_MAX = 200 * 1024 * 1024;

export interface ProbeConfig {
  readonly timeoutMs: number;
  readonly heapBytes: number;
  /** All memory of a parser's process, the JavaScript heap included. */
  readonly memoryBytes: number;
  readonly pixelsMax: number;
  /** The workers for references, and those for results. */
  readonly workers: number;
  readonly resultWorkers: number;
  /** The most files that wait for a worker. */
  readonly queueMax: number;
  readonly queuePerAccountMax: number;
  /** The weakest level that the service starts with. */
  readonly leastConfinement: ConfinementLevel;
}

export interface MediaConfig {
  readonly listen: HostPort | undefined;
  readonly http: HostPort | undefined;
  readonly store: StoreSettings;
  readonly blobs: BlobsConfig;
  /** A path, or `off`; undefined: the one on the PATH. */
  readonly ffmpeg: string | undefined;
  readonly results: {
    readonly lifetimeMs: number;
    readonly bytesMax: number;
    readonly parallel: number;
    readonly totalMs: number;
    readonly redirect: boolean;
  };
  readonly stagedLifetimeMs: number;
  /**
   * True if channels get addresses in the bucket; if undefined, they get them when the bucket is reachable from
   * outside.
   */
  readonly stagedPresigned: boolean | undefined;
  /** True if images are redrawn before a channel gets them. */
  readonly stagedRedraw: boolean;
  readonly inline: { readonly lifetimeMs: number; readonly bytesMax: number; readonly accountBytesMax: number };
  readonly files: FileSettings;
  readonly bytesMax: Readonly<Record<Category, number>>;
  readonly probe: ProbeConfig;
  readonly fetch: FetchConfig;
  readonly webhooks: {
    /** Receivers that are called although they are not public or not on port 443: names and addresses. */
    readonly allow: readonly HostPort[];
  };
}

/** Converts a configuration that passed the schema. */
export function mediaConfig(value: unknown): MediaConfig {
  const { media, webhooks } = value as CheckedConfig;
  return {
    listen: hostPort(media.listen),
    http: hostPort(media.http),
    store: storeSettings(media, { name: 'media', migrations: MIGRATIONS }),
    blobs: blobsConfig(media),
    ffmpeg: media.ffmpeg,
    results: {
      lifetimeMs: ms(media.results.lifetime),
      bytesMax: size(media.results.max_bytes),
      parallel: media.results.parallel,
      totalMs: ms(media.results.total),
      redirect: media.results.redirect,
    },
    stagedLifetimeMs: ms(media.staged.lifetime),
    stagedPresigned: media.staged.presigned,
    stagedRedraw: media.staged.redraw,
    inline: inlineConfig(media.inline),
    files: filesConfig(media.files),
    bytesMax: {
      image: size(media.limits['image']),
      video: size(media.limits['video']),
      audio: size(media.limits['audio']),
      base_video: size(media.limits['base_video']),
    },
    probe: probeConfig(media.probe),
    fetch: fetchConfig(media.fetch),
    webhooks: { allow: (webhooks?.allow ?? []).map(parseReceiver) },
  };
}

function inlineConfig(inline: Values): MediaConfig['inline'] {
  const config = {
    lifetimeMs: ms(inline['lifetime']),
    bytesMax: size(inline['max_bytes']),
    accountBytesMax: size(inline['per_account']),
  };
  if (config.accountBytesMax < config.bytesMax)
    throw new ConfigError('media.inline.per_account: expected at least media.inline.max_bytes');
  return config;
}

function filesConfig(files: CheckedConfig['media']['files']): FileSettings {
  const config = {
    lifetimeMs: ms(files.lifetime),
    bytesMax: size(files.max_bytes),
    accountBytesMax: size(files.per_account),
    accountFilesMax: files.count_per_account,
  };
  if (config.bytesMax > FILE_BYTES_MAX) throw new ConfigError('media.files.max_bytes: expected at most 200MiB');
  if (config.accountBytesMax < config.bytesMax)
    throw new ConfigError('media.files.per_account: expected at least media.files.max_bytes');
  return config;
}

function probeConfig(probe: CheckedConfig['media']['probe']): ProbeConfig {
  return {
    timeoutMs: ms(probe.timeout),
    heapBytes: size(probe.heap),
    memoryBytes: size(probe.memory),
    pixelsMax: probe.pixels,
    workers: probe.workers,
    resultWorkers: probe.result_workers,
    queueMax: probe.queue,
    queuePerAccountMax: probe.queue_per_account,
    leastConfinement: probe.confinement,
  };
}

function blobsConfig({ blobs, s3 }: CheckedConfig['media']): BlobsConfig {
  if (blobs?.startsWith('s3://') !== true) return { kind: 'folder', path: blobs };
  return { kind: 's3', address: parseS3Address(blobs), credentials: s3 === undefined ? undefined : s3Credentials(s3) };
}

function s3Credentials({ access_key_id: id, secret_access_key: key, session_token: token }: CheckedS3): S3Credentials {
  return {
    accessKeyId: new Secret(id),
    secretAccessKey: new Secret(key),
    sessionToken: token === undefined ? undefined : new Secret(token),
  };
}

/** An entry that only resembles an address would be an exception without effect. */
function parseException(entry: AllowEntry, at: number): FetchException {
  const [key, host, purpose] = typeof entry === 'string' ? ['', entry] : ['.host', entry.host, entry.for];
  const parsed = parseHostPort(host);
  if (parsed === undefined || !isAddress(parsed.host))
    throw new ConfigError(`media.fetch.allow.${at}${key}: expected ${ADDRESS_AND_PORT}`);
  return { ...parsed, purpose };
}

/** The host as the URL parser reads it in the URL of a receiver: `127.1` is `127.0.0.1`. */
function parseReceiver(entry: string, at: number): HostPort {
  const port = parseHostPort(entry)?.port ?? 0;
  const host = URL.parse(`http://${entry}/`)?.hostname.replace(/^\[|\]$/g, '');
  if (port === 0 || host === undefined || host === '')
    throw new ConfigError(`webhooks.allow.${at}: expected ${RECEIVER}`);
  return { host, port };
}

/** With an entry that only resembles an address, every lookup would fail. */
function parseDnsServer(entry: string, at: number): string {
  const parsed = parseHostPort(entry) ?? parseHostPort(`${entry}:${DNS_PORT}`);
  if (parsed === undefined || !isAddress(parsed.host))
    throw new ConfigError(`media.fetch.dns_servers.${at}: expected ${DNS_SERVER}`);
  return entry;
}

function fetchConfig(fetch: CheckedConfig['media']['fetch']): FetchConfig {
  return {
    allow: fetch.allow.map(parseException),
    ports: fetch.ports,
    redirectsMax: fetch.max_redirects,
    dnsServers: fetch.dns_servers.map(parseDnsServer),
    inFlight: {
      total: number(fetch.in_flight['total']),
      perAccount: number(fetch.in_flight['per_account']),
      perHost: number(fetch.in_flight['per_host']),
    },
    yieldAfterMs: ms(fetch.yield_after),
    leastBytesPerSecond: size(fetch.least_speed),
    speedWindowMs: ms(fetch.speed_window),
    headerBytesMax: size(fetch.header_bytes),
    urlCharactersMax: fetch.url_characters,
    timeouts: {
      dnsMs: ms(fetch.timeouts['dns']),
      connectMs: ms(fetch.timeouts['connect']),
      headersMs: ms(fetch.timeouts['headers']),
      idleMs: ms(fetch.timeouts['idle']),
      imageTotalMs: ms(fetch.timeouts['image_total']),
      videoTotalMs: ms(fetch.timeouts['video_total']),
      queueMs: ms(fetch.timeouts['queue']),
    },
  };
}

const hostPort = (text: string | undefined): HostPort | undefined =>
  text === undefined ? undefined : parseHostPort(text);
const ms = (text: string | undefined): number => requireValue(parseDuration(text ?? ''));
const size = (text: string | undefined): number => requireValue(parseBytes(text ?? ''));
const number = (value: number | undefined): number => requireValue(value);

function requireValue(value: number | undefined): number {
  if (value === undefined) throw new Error('the media section of the configuration was not checked against its schema');
  return value;
}
