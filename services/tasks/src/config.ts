import path from 'node:path';
import {
  address,
  choice,
  convert,
  custom,
  duration,
  flag,
  list,
  number,
  readSection,
  secret,
  section,
  sectionSchema,
  text,
  whole,
} from '@reelgate/platform/config/settings';
import type { EntryOf } from '@reelgate/platform/config/settings';
import { drainKeys } from '@reelgate/platform/config/drain-keys';
import { storeKeys, storeSettings } from '@reelgate/platform/sql/store-settings';
import type { StoreSettings } from '@reelgate/platform/sql/store-settings';
import type { Secret } from '@reelgate/platform/secret';
import { listenerTls } from '@reelgate/platform/tls/tls-schema';
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
import { webhookKeys } from './webhook-settings.ts';
import type { WebhookSettings } from './webhook-settings.ts';

export { SCHEDULE_MS_MAX } from './domain/wait-plan.ts';
export { describeAdapters, listAdapters, videoChannelKeys } from './channels/video-channel-config.ts';
export type { KnownAdapters } from './channels/video-channel-config.ts';
export { ADAPTER_NAME_PATTERN } from './channels/own-adapters/adapter-name.ts';
export { loadTestedAdapter } from './channels/own-adapters/load-own-adapter.ts';
export type { TestedAdapter } from './channels/own-adapters/load-own-adapter.ts';
export { buildRecordPath } from './channels/own-adapters/test-record.ts';
export { ALPHA } from './domain/model.ts';

/** A shorter lease would end between two renewals. */
const LEASE_LEAST_MS = 1000;
const MIGRATIONS = path.join(import.meta.dirname, '../migrations');
const NAME = { minLength: 1, maxLength: 128 } as const;

/** The section `tasks`. */
const tasksKeys = {
  listen: address('the gRPC address', { absent: '`127.0.0.1:9101` for callers' }),
  http: address('the address of Connect, health and metrics', { absent: 'none' }),
  tls: listenerTls,
  drain: drainKeys({ absent: 'the longest `timeouts.submit` of the channels and 15 s, `75s` at least' }),
  ...storeKeys,
  redis: secret(
    '`redis://…` or `rediss://…`, as `gateway.redis`: replicas share `requests_per_minute` and the circuits of ' +
      'channels there',
    {
      absent: 'each replica has an equal part of `requests_per_minute` and a circuit of its own',
      pattern: '^rediss?://',
      expects: 'a Redis address such as redis://127.0.0.1:6379',
    },
  ),
  in_flight: section(
    {
      per_token: whole(
        'the most unfinished tasks of a token and of all that it made; a token can have a limit of its own',
        { default: 20, as: 'inFlightPerToken' },
      ),
      total: whole('the most unfinished tasks in all', { default: 1000, as: 'inFlightTotal' }),
    },
    { default: {}, as: 'limits' },
  ),
  poll: {
    first: duration('the first interval of polls', { default: '3s', min: '1ms' }),
    factor: number('the growth of the interval with the age of the task', { default: 1.5, min: 1, max: 10 }),
    max: duration('the longest interval of polls', { default: '15s', min: '1ms' }),
    soft_deadline: duration('the age at which the operator is alerted', { default: '30m', min: '1ms' }),
    hard_deadline: duration('the age at which a person must decide', { default: '24h', min: '1ms' }),
  },
  queue: {
    enabled: flag(
      '`true`: a create that finds every channel full waits for its turn, and accounts take turns; `false`: it is ' +
        'refused',
      { default: true },
    ),
    per_account: whole('the most tasks of an account that wait for a channel or for their time', { default: 1000 }),
    total: whole('the most tasks that wait for a channel or for their time', { default: 100_000 }),
    longest_wait: section(
      {
        interactive: longestWait('interactive', '2m'),
        standard: longestWait('standard', '1h'),
        batch: longestWait('batch', '24h'),
      },
      { default: {}, as: 'longestWaitMs' },
    ),
  },
  retention: duration(
    'how long a finished task or job is kept, with its attempts and history; billing keeps its own records of the ' +
      'money',
    { default: '90d' },
  ),
  jobs: {
    per_token: whole('the most asynchronous calls of a token in flight', { default: 100 }),
    total: whole('the most asynchronous calls in flight', { default: 10_000 }),
    lease: lease('a worker that sends nothing for this long is gone; at least a second'),
    deadline: duration('how long an asynchronous call may wait for its start', { default: '1h', min: '1ms' }),
  },
  batch: {
    in_flight: whole('the most lines of a batch whose task has not ended', { default: 100 }),
    per_account: whole('the most batches of an account that have not ended', { default: 100 }),
    lease: lease('a worker that sends nothing about its batch for this long is gone; at least a second'),
    retention: duration('how long ended batches and their lines are kept', { default: '30d' }),
  },
};

/** An entry of `models`. */
const modelKeys = {
  kind: choice('`video`', ['video'], {
    required: true,
    expects: 'video; only video models have an entry under models',
  }),
  duration: custom(
    'the shortest and the longest duration in whole seconds, such as `[4, 15]`',
    { type: 'array', items: { type: 'integer', minimum: 1, maximum: 3600 }, minItems: 2, maxItems: 2 },
    { required: true, expects: 'two whole numbers of seconds: the shortest and the longest duration' },
    (range: readonly [number, number]) => range,
  ),
  resolutions: list('the resolutions that an order may have', text('a value of orders', NAME), {
    required: true,
    minItems: 1,
  }),
  ratios: list('the aspect ratios that an order may have', text('a value of orders', NAME), {
    required: true,
    minItems: 1,
  }),
  defaults: {
    duration: whole('the duration of an order that names none', {
      absent: '5 if the model has it; otherwise the nearest',
    }),
    resolution: text('the resolution of an order that names none', {
      ...NAME,
      absent: '`768P` if the model has it; otherwise its first',
    }),
    ratio: text('the aspect ratio of an order that names none', {
      ...NAME,
      absent: '`16:9` if the model has it; otherwise its first but `adaptive`',
    }),
  },
};

const adaptersKey = {
  type: 'array',
  maxItems: 32,
  uniqueItems: true,
  default: [],
  items: { type: 'string', minLength: 1, maxLength: 4096, description: 'the path of a file' },
  description: 'the files of your own adapters',
  about:
    'the files of your own adapters, such as `[./adapters/borealis.ts]`, relative to the file that has the key; a ' +
    'channel uses one by its base name (`adapter: borealis`)',
};

/** The configuration keys that this service owns. */
export const tasksSchema = {
  tasks: { ...sectionSchema(tasksKeys), default: {} },
  webhooks: {
    ...sectionSchema(webhookKeys),
    default: {},
    about: 'what clients may have told to their own URLs',
    absent: 'each key has its own',
  },
  adapters: adaptersKey,
  models: {
    type: 'object',
    default: {},
    additionalProperties: {
      ...sectionSchema(modelKeys),
      description:
        'a video model with kind, duration, resolutions and ratios; ' +
        'remove the entry if only relay channels use the model',
    },
  },
};

/** The sections as the checked file has them. */
export type TasksEntry = EntryOf<typeof tasksKeys>;
export type ModelEntry = EntryOf<typeof modelKeys>;

function longestWait<const As extends QueueClass>(as: As, byDefault: string) {
  const about = `how long a task of the class \`${as}\` can wait for a channel before it fails and its hold is released`;
  return duration(about, { default: byDefault, min: '1ms', as });
}

function lease(about: string) {
  return convert(duration(about, { default: '20s', min: '1ms' }), (ms) => Math.max(ms, LEASE_LEAST_MS));
}

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
  const { url, postgres, mode, redis, limits, poll, queue, retentionMs, jobs, batch } = readSection(
    tasksKeys,
    tasks,
    'tasks',
  );
  const { softDeadlineMs, hardDeadlineMs, ...pollPlan } = poll;
  return {
    store: storeSettings({ url, postgres, mode }, { name: 'tasks', migrations: MIGRATIONS }),
    redis,
    limits,
    queue: queue.enabled ? queue : undefined,
    pollPlan: { ...pollPlan, maxMs: Math.max(pollPlan.maxMs, pollPlan.firstMs) },
    softDeadlineMs,
    hardDeadlineMs,
    retentionMs,
    jobs: { ...jobs, retentionMs },
    batch,
    webhooks: readSection(webhookKeys, webhooks, 'webhooks'),
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

interface CheckedConfig {
  readonly tasks: TasksEntry;
  readonly webhooks: EntryOf<typeof webhookKeys>;
  readonly models: Readonly<Record<string, ModelEntry>>;
  readonly channels: readonly CheckedChannel[];
  /** The adapters of operators, as the reader of the configuration has loaded them. */
  readonly adapters?: readonly TestedAdapter[];
  readonly accounts?: readonly { readonly id: string; readonly upstream_accounts?: readonly string[] }[];
}
