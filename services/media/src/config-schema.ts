import { CONFINEMENT_LEVELS } from './probe/confinement/levels.ts';
import type { ConfinementLevel } from './probe/confinement/levels.ts';
import { drainSchema } from '@reelgate/platform/lifecycle/drain-schema';
import { storeSchema } from '@reelgate/platform/sql/store-settings';
import type { StoreEntry } from '@reelgate/platform/sql/store-settings';
import { listenerTlsSchema } from '@reelgate/platform/tls/tls-schema';
import { S3_PATTERN } from './blobs/s3-address.ts';
import { URL_CHARACTERS_MAX } from './domain/remote-url.ts';
import { FETCH_PURPOSES } from './fetch/fetch-settings.ts';
import type { FetchPurpose } from './fetch/fetch-settings.ts';

export const ADDRESS_AND_PORT = 'an address and a port such as 127.0.0.1:9000 or [::1]:9000';
const ADDRESS_AND_PORT_PATTERN = '^(\\d{1,3}(\\.\\d{1,3}){3}|\\[[0-9a-fA-F:.]+\\]):\\d{1,5}$';
export type AllowEntry = string | { readonly host: string; readonly for: FetchPurpose };
export const DNS_SERVER = 'the address of a DNS server such as 10.0.0.2, 10.0.0.2:53 or [fd00::2]:53';
export const RECEIVER = 'a host and a port such as hooks.internal:8443 or 127.0.0.1:9000';
const duration = (fallback: string) => ({ type: 'string', format: 'duration', default: fallback });
const bytes = (fallback: string) => ({ type: 'string', format: 'bytes', default: fallback });
const count = (fallback: number, minimum = 1) => ({
  type: 'integer',
  minimum,
  maximum: 2 ** 31 - 1,
  default: fallback,
  description: `a whole number from ${minimum} up`,
});
const flag = (fallback: boolean) => ({ type: 'boolean', default: fallback });
const section = (properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  additionalProperties: false,
  default: {},
  properties,
});

/** The part of the configuration that belongs to this service, by top-level key. */
export const mediaSchema = {
  media: section({
    listen: { type: 'string', format: 'host-port' },
    http: { type: 'string', format: 'host-port' },
    tls: listenerTlsSchema,
    drain: drainSchema('90s'),
    ...storeSchema,
    blobs: {
      type: 'string',
      pattern: `^((?!s3:).*|${S3_PATTERN})$`,
      description:
        'the path of a folder, or s3://bucket/folder?endpoint=…&public_endpoint=…&region=…&path_style=true&' +
        'ca=…; empty: a folder in data_dir',
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
    ffmpeg: {
      type: 'string',
      pattern: '^(off|/.+)$',
      description: 'the absolute path of an ffmpeg, or off; empty: the one on the PATH',
    },
    results: section({
      lifetime: duration('7d'),
      max_bytes: bytes('2GiB'),
      parallel: count(64),
      total: duration('15m'),
      redirect: flag(false),
    }),
    staged: section({ lifetime: duration('8d'), presigned: { type: 'boolean' }, redraw: flag(true) }),
    inline: section({ lifetime: duration('1h'), max_bytes: bytes('64MiB'), per_account: bytes('512MiB') }),
    files: section({
      lifetime: duration('30d'),
      max_bytes: bytes('64MiB'),
      per_account: bytes('2GiB'),
      count_per_account: count(1000),
    }),
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
      confinement: {
        enum: CONFINEMENT_LEVELS,
        default: 'process',
        description: CONFINEMENT_LEVELS.join(', '),
      },
    }),
    fetch: section({
      allow: {
        type: 'array',
        default: [],
        items: {
          type: ['object', 'string'],
          pattern: ADDRESS_AND_PORT_PATTERN,
          additionalProperties: false,
          required: ['host', 'for'],
          properties: {
            host: { type: 'string', pattern: ADDRESS_AND_PORT_PATTERN, description: ADDRESS_AND_PORT },
            for: { enum: FETCH_PURPOSES },
          },
          description: `${ADDRESS_AND_PORT}, or such as { host: "127.0.0.1:9000", for: results }`,
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

export type Values = Readonly<Record<string, string>>;
type Numbers = Readonly<Record<string, number>>;
export interface CheckedS3 {
  readonly access_key_id: string;
  readonly secret_access_key: string;
  readonly session_token?: string;
}

/** A configuration that passed the schema, with its defaults. */
export interface CheckedConfig {
  /** Of the tasks service, which has its schema. */
  readonly webhooks?: { readonly allow?: readonly string[] };
  readonly media: StoreEntry & {
    readonly listen?: string;
    readonly http?: string;
    readonly blobs?: string;
    readonly s3?: CheckedS3;
    readonly ffmpeg?: string;
    readonly results: {
      readonly lifetime: string;
      readonly max_bytes: string;
      readonly parallel: number;
      readonly total: string;
      readonly redirect: boolean;
    };
    readonly staged: { readonly lifetime: string; readonly presigned?: boolean; readonly redraw: boolean };
    readonly inline: Values;
    readonly files: {
      readonly lifetime: string;
      readonly max_bytes: string;
      readonly per_account: string;
      readonly count_per_account: number;
    };
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
      readonly confinement: ConfinementLevel;
    };
    readonly fetch: {
      readonly allow: readonly AllowEntry[];
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
