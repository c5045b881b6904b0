import path from 'node:path';
import { parseDuration } from '@reelgate/platform/config/units';
import { drainSchema } from '@reelgate/platform/lifecycle/drain-schema';
import { storeSchema, storeSettings } from '@reelgate/platform/sql/store-settings';
import type { StoreEntry, StoreSettings } from '@reelgate/platform/sql/store-settings';
import { Secret } from '@reelgate/platform/secret';
import { listenerTlsSchema } from '@reelgate/platform/tls/tls-schema';
import { listAdapters, toChannelSettings } from './channels/video-channel-config.ts';
import type { CheckedChannel } from './channels/video-channel-config.ts';
import type { ChannelSettings } from './channels/channel.ts';
import type { TestedAdapter } from './channels/own-adapters/load-own-adapter.ts';
import type { QueueClass } from './domain/lane.ts';
import type { Model } from './domain/model.ts';
import type { PollPlan } from './domain/poll-interval.ts';
import type { Limits, QueueLimits } from './operations/deps.ts';
import type { BatchLimits } from './operations/batches/batch-deps.ts';
import type { JobLimits } from './operations/jobs/job-deps.ts';
import { objectSchema, duration, name, whole } from './schema-parts.ts';
import { webhookSettings, webhooksSchema } from './webhook-settings.ts';
import type { WebhookSettings, WebhooksEntry } from './webhook-settings.ts';

export { SCHEDULE_MS_MAX } from './domain/wait-plan.ts';
export { describeAdapters, listAdapters, videoChannelSchema } from './channels/video-channel-config.ts';
export type { KnownAdapters } from './channels/video-channel-config.ts';
export { ADAPTER_NAME_PATTERN } from './channels/own-adapters/adapter-name.ts';
export { loadTestedAdapter } from './channels/own-adapters/load-own-adapter.ts';
export type { TestedAdapter } from './channels/own-adapters/load-own-adapter.ts';
export { buildRecordPath } from './channels/own-adapters/test-record.ts';
export { ALPHA } from './domain/model.ts';

const names: object = { type: 'array', items: name, minItems: 1 };

/** A shorter lease would end between two renewals. */
const LEASE_LEAST_MS = 1000;
const MIGRATIONS = path.join(import.meta.dirname, '../migrations');
const POLL_DEFAULTS = { first: '3s', factor: 1.5, max: '15s', soft_deadline: '30m', hard_deadline: '24h' };

/** The configuration keys that this service owns. */
export const tasksSchema = {
  tasks: {
    ...objectSchema({
      listen: { type: 'string', format: 'host-port' },
      http: { type: 'string', format: 'host-port' },
      tls: listenerTlsSchema,
      drain: drainSchema(),
      ...storeSchema,
      redis: { type: 'string', pattern: '^rediss?://', description: 'a Redis address such as redis://127.0.0.1:6379' },
      in_flight: { ...objectSchema({ per_token: whole(1, 20), total: whole(1, 1000) }), default: {} },
      poll: {
        ...objectSchema({
          first: duration(POLL_DEFAULTS.first),
          factor: { type: 'number', minimum: 1, maximum: 10, default: POLL_DEFAULTS.factor },
          max: duration(POLL_DEFAULTS.max),
          soft_deadline: duration(POLL_DEFAULTS.soft_deadline),
          hard_deadline: duration(POLL_DEFAULTS.hard_deadline),
        }),
        default: {},
      },
      queue: {
        ...objectSchema({
          enabled: {
            type: 'boolean',
            default: true,
            description: 'true: a create that finds every channel full waits for its turn; false: it is refused',
          },
          per_account: whole(1, 1000),
          total: whole(1, 100_000),
          longest_wait: {
            ...objectSchema({ interactive: duration('2m'), standard: duration('1h'), batch: duration('24h') }),
            default: {},
          },
        }),
        default: {},
      },
      retention: duration('90d'),
      jobs: {
        ...objectSchema({
          per_token: whole(1, 100),
          total: whole(1, 10_000),
          lease: duration('20s'),
          deadline: duration('1h'),
        }),
        default: {},
      },
      batch: {
        ...objectSchema({
          in_flight: whole(1, 100),
          per_account: whole(1, 100),
          lease: duration('20s'),
          retention: duration('30d'),
        }),
        default: {},
      },
    }),
    default: {},
  },
  webhooks: webhooksSchema,
  adapters: {
    type: 'array',
    maxItems: 32,
    uniqueItems: true,
    default: [],
    items: { type: 'string', minLength: 1, maxLength: 4096, description: 'the path of a file' },
    description: 'the files of your own adapters',
  },
  models: {
    type: 'object',
    default: {},
    additionalProperties: objectSchema(
      {
        kind: { enum: ['video'], description: 'video; only video models have an entry under models' },
        duration: {
          type: 'array',
          items: { type: 'integer', minimum: 1, maximum: 3600 },
          minItems: 2,
          maxItems: 2,
          description: 'two whole numbers of seconds: the shortest and the longest duration',
        },
        resolutions: names,
        ratios: names,
        defaults: {
          ...objectSchema({ duration: { type: 'integer', minimum: 1 }, resolution: name, ratio: name }),
          default: {},
        },
      },
      ['kind', 'duration', 'resolutions', 'ratios'],
      {
        description:
          'a video model with kind, duration, resolutions and ratios; ' +
          'remove the entry if only relay channels use the model',
      },
    ),
  },
} as const;

export interface TasksConfig {
  readonly store: StoreSettings;
  /** Undefined if the limits of channels are divided among the live replicas. */
  readonly redis: Secret | undefined;
  /** The longest wait for Redis. The file cannot set it; a test on a busy machine does. */
  readonly redisDeadlineMs?: number;
  readonly limits: Limits;
  /** Undefined if no create waits for a channel. */
  readonly queue: QueueLimits | undefined;
  readonly pollPlan: PollPlan;
  readonly softDeadlineMs: number;
  readonly hardDeadlineMs: number;
  /** The time in milliseconds for which finished tasks are kept. */
  readonly retentionMs: number;
  readonly jobs: JobLimits;
  readonly batch: BatchLimits;
  readonly webhooks: WebhookSettings;
  readonly models: ReadonlyMap<string, Model>;
  readonly channels: readonly ChannelSettings[];
  /** Every channel of the configuration, including the channels of other services. */
  readonly channelIds: readonly string[];
  /** Maps an account to the upstream accounts with files that it may use. */
  readonly grants: ReadonlyMap<string, readonly string[]>;
}

/** Converts the checked configuration. `publicUrl` decides how media reach a channel that does not say it. */
export function tasksConfig(value: unknown, publicUrl: string): TasksConfig {
  const { tasks, webhooks, models, channels, adapters: own = [], accounts = [] } = value as CheckedConfig;
  const known = listAdapters(own);
  return {
    store: storeSettings(tasks, { name: 'tasks', migrations: MIGRATIONS }),
    redis: tasks.redis === undefined ? undefined : new Secret(tasks.redis),
    limits: { inFlightPerToken: tasks.in_flight.per_token, inFlightTotal: tasks.in_flight.total },
    queue: toQueueLimits(tasks.queue),
    pollPlan: {
      firstMs: ms(tasks.poll.first),
      factor: tasks.poll.factor,
      maxMs: Math.max(ms(tasks.poll.max), ms(tasks.poll.first)),
    },
    softDeadlineMs: ms(tasks.poll.soft_deadline),
    hardDeadlineMs: ms(tasks.poll.hard_deadline),
    retentionMs: ms(tasks.retention),
    jobs: {
      perToken: tasks.jobs.per_token,
      total: tasks.jobs.total,
      leaseMs: Math.max(ms(tasks.jobs.lease), LEASE_LEAST_MS),
      deadlineMs: ms(tasks.jobs.deadline),
      retentionMs: ms(tasks.retention),
    },
    batch: {
      inFlight: tasks.batch.in_flight,
      perAccount: tasks.batch.per_account,
      leaseMs: Math.max(ms(tasks.batch.lease), LEASE_LEAST_MS),
      retentionMs: ms(tasks.batch.retention),
    },
    webhooks: webhookSettings(webhooks),
    models: new Map(
      Object.entries(models).map(
        ([
          id,
          {
            duration: [durationMin, durationMax],
            resolutions,
            ratios,
          },
        ]) => [id, { id, durationMin, durationMax, resolutions, ratios }],
      ),
    ),
    channels: channels
      .filter(({ adapter }) => Object.hasOwn(known, adapter))
      .map((channel) => toChannelSettings(channel, isPrivate(publicUrl) ? 'inline' : 'url', own)),
    channelIds: channels.map(({ id }) => id),
    grants: new Map(accounts.map(({ id, upstream_accounts = [] }) => [id, upstream_accounts])),
  };
}

/** Reports whether an upstream on another network cannot reach this URL. Host names are public, except localhost. */
export function isPrivate(publicUrl: string): boolean {
  const host = new URL(publicUrl).hostname;
  return (
    host === 'localhost' ||
    host.startsWith('[') ||
    /^(127|10|0)\.|^192\.168\.|^172\.(1[6-9]|2\d|3[01])\.|^169\.254\./.test(host)
  );
}

function ms(text: string): number {
  return parseDuration(text) ?? 0;
}

interface QueueEntry {
  readonly enabled: boolean;
  readonly per_account: number;
  readonly total: number;
  readonly longest_wait: Readonly<Record<QueueClass, string>>;
}

function toQueueLimits({ enabled, ...queue }: QueueEntry): QueueLimits | undefined {
  const { interactive, standard, batch } = queue.longest_wait;
  const longestWaitMs = { interactive: ms(interactive), standard: ms(standard), batch: ms(batch) };
  return enabled ? { perAccount: queue.per_account, total: queue.total, longestWaitMs } : undefined;
}

interface CheckedConfig {
  readonly tasks: StoreEntry & {
    readonly redis?: string;
    readonly in_flight: { readonly per_token: number; readonly total: number };
    readonly poll: {
      readonly first: string;
      readonly factor: number;
      readonly max: string;
      readonly soft_deadline: string;
      readonly hard_deadline: string;
    };
    readonly queue: QueueEntry;
    readonly retention: string;
    readonly jobs: {
      readonly per_token: number;
      readonly total: number;
      readonly lease: string;
      readonly deadline: string;
    };
    readonly batch: {
      readonly in_flight: number;
      readonly per_account: number;
      readonly lease: string;
      readonly retention: string;
    };
  };
  readonly webhooks: WebhooksEntry;
  readonly models: Readonly<
    Record<
      string,
      {
        readonly duration: readonly [number, number];
        readonly resolutions: readonly string[];
        readonly ratios: readonly string[];
      }
    >
  >;
  readonly channels: readonly CheckedChannel[];
  /** The adapters of operators, as the reader of the configuration has loaded them. */
  readonly adapters?: readonly TestedAdapter[];
  readonly accounts?: readonly { readonly id: string; readonly upstream_accounts?: readonly string[] }[];
}
