import { ConfigError } from '@reelgate/platform/config/config-file';
import { parseBytes, parseDuration, parseHostPort } from '@reelgate/platform/config/units';
import type { HostPort } from '@reelgate/platform/config/units';
import { Secret } from '@reelgate/platform/secret';
import { S3_PATTERN, parseS3Address } from './blobs/s3-address.ts';
import type { S3Address, S3Credentials } from './blobs/s3-address.ts';
import type { Category } from './domain/media-rules.ts';
import { URL_CHARACTERS_MAX } from './domain/remote-url.ts';
import { isAddress } from './fetch/address-policy.ts';

const ADDRESS_AND_PORT = 'an address and a port such as 127.0.0.1:9000 or [::1]:9000';
const DNS_SERVER = 'the address of a DNS server such as 10.0.0.2, 10.0.0.2:53 or [fd00::2]:53';
const DNS_PORT = 53;
const duration = (fallback: string) => ({ type: 'string', format: 'duration', default: fallback });
const bytes = (fallback: string) => ({ type: 'string', format: 'bytes', default: fallback });
const count = (fallback: number, minimum = 1) => ({
  type: 'integer',
  minimum,
  maximum: 2 ** 31 - 1,
  default: fallback,
  description: `a whole number from ${String(minimum)} up`,
});
const flag = (fallback: boolean) => ({ type: 'boolean', default: fallback });
const section = (properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  additionalProperties: false,
  default: {},
  properties,
});

/** What this service owns of the configuration, by top-level key. */
export const mediaSchema = {
  media: section({
    listen: { type: 'string', format: 'host-port' },
    http: { type: 'string', format: 'host-port' },
    database: {
      type: 'string',
      pattern: '^postgres(ql)?://',
      description: 'a postgres:// address; empty: embedded in data_dir',
    },
    blobs: {
      type: 'string',
      pattern: `^((?!s3:).*|${S3_PATTERN})$`,
      description:
        'the path of a folder, or s3://bucket/folder?endpoint=…&public_endpoint=…&region=…&path_style=true; empty: a folder in data_dir',
    },
    s3: {
      type: 'object',
      additionalProperties: false,
      required: ['access_key_id', 'secret_access_key'],
      properties: {
        access_key_id: { type: 'string' },
        secret_access_key: { type: 'string' },
        session_token: { type: 'string' },
      },
    },
    results: section({
      lifetime: duration('7d'),
      max_bytes: bytes('2GiB'),
      parallel: count(16),
      total: duration('15m'),
      redirect: flag(false),
    }),
    staged: section({ lifetime: duration('8d'), presigned: { type: 'boolean' }, redraw: flag(true) }),
    inline: section({ lifetime: duration('1h'), max_bytes: bytes('64MiB'), per_account: bytes('512MiB') }),
    limits: section({
      image: bytes('30MiB'),
      video: bytes('50MiB'),
      audio: bytes('15MiB'),
      base_video: bytes('100MiB'),
    }),
    probe: section({
      timeout: duration('5s'),
      heap: bytes('256MiB'),
      memory: bytes('1GiB'),
      pixels: count(40_000_000),
      workers: count(3),
      result_workers: count(5),
      queue: count(256),
      queue_per_account: count(64),
    }),
    fetch: section({
      allow: {
        type: 'array',
        default: [],
        items: {
          type: 'string',
          pattern: '^(\\d{1,3}(\\.\\d{1,3}){3}|\\[[0-9a-fA-F:.]+\\]):\\d{1,5}$',
          description: ADDRESS_AND_PORT,
        },
      },
      ports: {
        type: 'array',
        default: [80, 443],
        items: { type: 'integer', minimum: 1, maximum: 65_535, description: 'a port' },
      },
      max_redirects: count(3, 0),
      dns_servers: {
        type: 'array',
        default: [],
        items: {
          type: 'string',
          pattern: '^(\\d{1,3}(\\.\\d{1,3}){3}|\\[[0-9a-fA-F:.]+\\])(:\\d{1,5})?$',
          description: `${DNS_SERVER}; none: those of the system`,
        },
      },
      in_flight: section({ total: count(16), per_account: count(4), per_host: count(4) }),
      yield_after: duration('2s'),
      least_speed: bytes('16KiB'),
      speed_window: duration('15s'),
      header_bytes: bytes('16KiB'),
      url_characters: count(URL_CHARACTERS_MAX),
      timeouts: section({
        dns: duration('5s'),
        connect: duration('5s'),
        headers: duration('10s'),
        idle: duration('10s'),
        image_total: duration('30s'),
        video_total: duration('120s'),
        queue: duration('60s'),
      }),
    }),
  }),
};

export interface FetchConfig {
  /** Private addresses that may be dialled all the same, on this very port. */
  readonly allow: readonly HostPort[];
  /** Ports that may be dialled besides those of `allow`. */
  readonly ports: readonly number[];
  readonly redirectsMax: number;
  /** Empty: the system's. */
  readonly dnsServers: readonly string[];
  readonly inFlight: { readonly total: number; readonly perAccount: number; readonly perHost: number };
  /** A transfer keeps its permits for at least this long. After that it can be made to yield to another account. */
  readonly yieldAfterMs: number;
  /** Over every window of a body. */
  readonly leastBytesPerSecond: number;
  readonly speedWindowMs: number;
  readonly headerBytesMax: number;
  readonly urlCharactersMax: number;
  readonly timeouts: {
    readonly dnsMs: number;
    readonly connectMs: number;
    readonly headersMs: number;
    readonly idleMs: number;
    /** Pictures and sound, then video. */
    readonly imageTotalMs: number;
    readonly videoTotalMs: number;
    /** For a free place. */
    readonly queueMs: number;
  };
}

export interface ProbeConfig {
  readonly timeoutMs: number;
  readonly heapBytes: number;
  /** All memory of a parser's process, the JavaScript heap included. */
  readonly memoryBytes: number;
  readonly pixelsMax: number;
  /** For references, and for results. */
  readonly workers: number;
  readonly resultWorkers: number;
  /** The most files that wait for a worker. */
  readonly queueMax: number;
  readonly queuePerAccountMax: number;
}

/** An absolute path, or nothing for a folder in the data folder; or a bucket. */
export type BlobsConfig =
  | { readonly kind: 'folder'; readonly path: string | undefined }
  | { readonly kind: 's3'; readonly address: S3Address; readonly credentials: S3Credentials | undefined };

export interface MediaConfig {
  readonly listen: HostPort | undefined;
  readonly http: HostPort | undefined;
  readonly database: Secret | undefined;
  readonly blobs: BlobsConfig;
  readonly results: {
    readonly lifetimeMs: number;
    readonly bytesMax: number;
    readonly parallel: number;
    readonly totalMs: number;
    readonly redirect: boolean;
  };
  readonly stagedLifetimeMs: number;
  /** Whether channels get addresses in the bucket; undefined: where it can be reached from outside. */
  readonly stagedPresigned: boolean | undefined;
  /** Whether pictures are drawn anew before a channel gets them. */
  readonly stagedRedraw: boolean;
  readonly inline: { readonly lifetimeMs: number; readonly bytesMax: number; readonly accountBytesMax: number };
  readonly bytesMax: Readonly<Record<Category, number>>;
  readonly probe: ProbeConfig;
  readonly fetch: FetchConfig;
}

type Values = Readonly<Record<string, string>>;
type Numbers = Readonly<Record<string, number>>;
interface CheckedS3 {
  readonly access_key_id: string;
  readonly secret_access_key: string;
  readonly session_token?: string;
}

/** What the schema has checked, defaults filled in. */
interface Checked {
  readonly media: {
    readonly listen?: string;
    readonly http?: string;
    readonly database?: string;
    readonly blobs?: string;
    readonly s3?: CheckedS3;
    readonly results: {
      readonly lifetime: string;
      readonly max_bytes: string;
      readonly parallel: number;
      readonly total: string;
      readonly redirect: boolean;
    };
    readonly staged: { readonly lifetime: string; readonly presigned?: boolean; readonly redraw: boolean };
    readonly inline: Values;
    readonly limits: Values;
    readonly probe: {
      readonly timeout: string;
      readonly heap: string;
      readonly memory: string;
      readonly pixels: number;
      readonly workers: number;
      readonly result_workers: number;
      readonly queue: number;
      readonly queue_per_account: number;
    };
    readonly fetch: {
      readonly allow: readonly string[];
      readonly ports: readonly number[];
      readonly max_redirects: number;
      readonly dns_servers: readonly string[];
      readonly in_flight: Numbers;
      readonly yield_after: string;
      readonly least_speed: string;
      readonly speed_window: string;
      readonly header_bytes: string;
      readonly url_characters: number;
      readonly timeouts: Values;
    };
  };
}

/** The checked configuration, typed. */
export function mediaConfig(value: unknown): MediaConfig {
  const { media } = value as Checked;
  return {
    listen: hostPort(media.listen),
    http: hostPort(media.http),
    database: media.database === undefined ? undefined : new Secret(media.database),
    blobs: blobsConfig(media),
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
    bytesMax: {
      image: size(media.limits['image']),
      video: size(media.limits['video']),
      audio: size(media.limits['audio']),
      base_video: size(media.limits['base_video']),
    },
    probe: probeConfig(media.probe),
    fetch: fetchConfig(media.fetch),
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

function probeConfig(probe: Checked['media']['probe']): ProbeConfig {
  return {
    timeoutMs: ms(probe.timeout),
    heapBytes: size(probe.heap),
    memoryBytes: size(probe.memory),
    pixelsMax: probe.pixels,
    workers: probe.workers,
    resultWorkers: probe.result_workers,
    queueMax: probe.queue,
    queuePerAccountMax: probe.queue_per_account,
  };
}

function blobsConfig({ blobs, s3 }: Checked['media']): BlobsConfig {
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

/** What looks like an address and is none would be an exception that nobody has. */
function exception(entry: string, at: number): HostPort {
  const parsed = parseHostPort(entry);
  if (parsed === undefined || !isAddress(parsed.host))
    throw new ConfigError(`media.fetch.allow.${String(at)}: expected ${ADDRESS_AND_PORT}`);
  return parsed;
}

/** Every lookup would fail at what looks like an address and is none. */
function dnsServer(entry: string, at: number): string {
  const parsed = parseHostPort(entry) ?? parseHostPort(`${entry}:${String(DNS_PORT)}`);
  if (parsed === undefined || !isAddress(parsed.host))
    throw new ConfigError(`media.fetch.dns_servers.${String(at)}: expected ${DNS_SERVER}`);
  return entry;
}

function fetchConfig(fetch: Checked['media']['fetch']): FetchConfig {
  return {
    allow: fetch.allow.map(exception),
    ports: fetch.ports,
    redirectsMax: fetch.max_redirects,
    dnsServers: fetch.dns_servers.map(dnsServer),
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
const ms = (text: string | undefined): number => checked(parseDuration(text ?? ''));
const size = (text: string | undefined): number => checked(parseBytes(text ?? ''));
const number = (value: number | undefined): number => checked(value);

function checked(value: number | undefined): number {
  if (value === undefined) throw new Error('the media section of the configuration was not checked against its schema');
  return value;
}
