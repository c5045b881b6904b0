import { Secret } from '@reelgate/platform/secret';
import { parseDuration } from '@reelgate/platform/config/units';
import type { ChannelSettings, Endpoint } from './channels/channel.ts';
import { ADAPTERS } from './channels/adapters/index.ts';
import type { Model } from './domain/model.ts';
import type { PollPlan } from './domain/poll-interval.ts';
import type { Limits } from './operations/deps.ts';
import type { JobLimits } from './operations/jobs/job-deps.ts';

export { ALPHA } from './domain/model.ts';

const WHOLE_MAX = 2 ** 31 - 1;
const whole = (least: number, byDefault: number): object => ({
  type: 'integer',
  minimum: least,
  maximum: WHOLE_MAX,
  default: byDefault,
  description: `a whole number from ${String(least)}`,
});
const duration = (byDefault: string): object => ({ type: 'string', format: 'duration', default: byDefault });
const closed = (properties: object, required: readonly string[] = [], more: object = {}): object => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
  ...more,
});
const name: object = { type: 'string', minLength: 1, maxLength: 128 };
const names: object = { type: 'array', items: name, minItems: 1 };

const VIDEO_ENDPOINTS: readonly Endpoint[] = ['video.generation', 'video.regeneration', 'video.context_ir'];
/** What each adapter can serve, by the name that the configuration calls it. */
const ENDPOINTS_BY_ADAPTER: Readonly<Record<keyof typeof ADAPTERS, readonly Endpoint[]>> = {
  'alpha-v2': VIDEO_ENDPOINTS,
  ark: ['video.generation'],
  'openai-videos': ['video.generation'],
  runway: ['video.generation'],
};
/** Adapters whose upstream can be given an address of ours. */
const CALLING_BACK: ReadonlySet<string> = new Set<keyof typeof ADAPTERS>(['alpha-v2']);
/** A shorter lease would end between two renewals. */
const LEASE_LEAST_MS = 1000;
const POLL_DEFAULTS = { first: '3s', factor: 1.5, max: '15s', soft_deadline: '30m', hard_deadline: '24h' };

/** The keys of the configuration that this service owns. */
export const tasksSchema = {
  tasks: {
    ...closed({
      listen: { type: 'string', format: 'host-port' },
      http: { type: 'string', format: 'host-port' },
      database: {
        type: 'string',
        pattern: '^postgres(ql)?://',
        description: 'a postgres:// URL, or nothing for the embedded store',
      },
      in_flight: { ...closed({ per_token: whole(1, 20), total: whole(1, 1000) }), default: {} },
      poll: {
        ...closed({
          first: duration(POLL_DEFAULTS.first),
          factor: { type: 'number', minimum: 1, maximum: 10, default: POLL_DEFAULTS.factor },
          max: duration(POLL_DEFAULTS.max),
          soft_deadline: duration(POLL_DEFAULTS.soft_deadline),
          hard_deadline: duration(POLL_DEFAULTS.hard_deadline),
        }),
        default: {},
      },
      retention: duration('90d'),
      jobs: {
        ...closed({
          per_token: whole(1, 100),
          total: whole(1, 10_000),
          lease: duration('20s'),
          deadline: duration('1h'),
        }),
        default: {},
      },
    }),
    default: {},
  },
  models: {
    type: 'object',
    default: {},
    additionalProperties: closed(
      {
        kind: { enum: ['video'], description: 'video; a model of a relay channel needs no entry under models' },
        duration: {
          type: 'array',
          items: { type: 'integer', minimum: 1, maximum: 3600 },
          minItems: 2,
          maxItems: 2,
          description: 'two whole numbers of seconds, the least and the most',
        },
        resolutions: names,
        ratios: names,
        defaults: {
          ...closed({ duration: { type: 'integer', minimum: 1 }, resolution: name, ratio: name }),
          default: {},
        },
      },
      ['kind', 'duration', 'resolutions', 'ratios'],
      {
        description:
          'a video model with kind, duration, resolutions and ratios; a model of a relay channel needs no entry: remove it',
      },
    ),
  },
} as const;

/** What this service adds to a channel in the list `channels`, which the gateway's relay channels share. */
export const videoChannelSchema = {
  endpointsByAdapter: ENDPOINTS_BY_ADAPTER,
  /** Tasks live at the upstream, so it matters under which account. */
  required: ['upstream_account'],
  properties: {
    upstream_account: name,
    reconcile: { enum: ['list', 'none'], default: 'list' },
    references: { enum: ['inline', 'url'] },
    callbacks: { type: 'boolean', default: false },
    regeneration: { enum: ['task', 'video'], default: 'task' },
  },
  limits: { polls_per_minute: whole(1, 6000) },
  timeouts: { submit: duration('60s'), poll: duration('20s') },
} as const;

export interface TasksConfig {
  readonly database: string | undefined;
  readonly limits: Limits;
  readonly pollPlan: PollPlan;
  readonly softDeadlineMs: number;
  readonly hardDeadlineMs: number;
  /** How long finished tasks are kept. */
  readonly retentionMs: number;
  readonly jobs: JobLimits;
  readonly models: ReadonlyMap<string, Model>;
  readonly channels: readonly ChannelSettings[];
  /** Upstream accounts whose files an account may name. */
  readonly grants: ReadonlyMap<string, readonly string[]>;
}

/** The checked configuration as this service uses it. `publicUrl` decides how media reach a channel that does not say. */
export function tasksConfig(value: unknown, publicUrl: string): TasksConfig {
  const { tasks, models, channels, accounts = [] } = value as CheckedConfig;
  return {
    database: tasks.database,
    limits: { inFlightPerToken: tasks.in_flight.per_token, inFlightTotal: tasks.in_flight.total },
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
      .filter(({ adapter }) => Object.hasOwn(ADAPTERS, adapter))
      .map((channel) => channelSettings(channel, isPrivate(publicUrl) ? 'inline' : 'url')),
    grants: new Map(accounts.map(({ id, upstream_accounts = [] }) => [id, upstream_accounts])),
  };
}

function channelSettings(channel: CheckedChannel, references: 'inline' | 'url'): ChannelSettings {
  return {
    id: channel.id,
    adapter: channel.adapter,
    baseUrl: channel.base_url,
    apiKey: new Secret(channel.api_key),
    upstreamAccount: channel.upstream_account,
    endpoints: channel.endpoints,
    models: channel.models,
    priority: channel.priority,
    weight: channel.weight,
    enabled: channel.enabled,
    requestsPerMinute: channel.limits.requests_per_minute,
    inFlightMax: channel.limits.in_flight,
    pollsPerMinute: channel.limits.polls_per_minute,
    submitTimeoutMs: ms(channel.timeouts.submit),
    pollTimeoutMs: ms(channel.timeouts.poll),
    reconcile: channel.reconcile,
    references: channel.references ?? references,
    callbacks: channel.callbacks,
    regeneration: channel.regeneration,
  };
}

export function takesCallbacks(adapter: string): boolean {
  return CALLING_BACK.has(adapter);
}

/** An address that an upstream elsewhere cannot reach. Names are taken to be public, but for localhost. */
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

interface CheckedChannel {
  readonly id: string;
  readonly adapter: string;
  readonly base_url: string;
  readonly api_key: string;
  readonly upstream_account: string;
  readonly endpoints: readonly Endpoint[];
  readonly models: Readonly<Record<string, string>>;
  readonly priority: number;
  readonly weight: number;
  readonly enabled: boolean;
  readonly limits: {
    readonly requests_per_minute: number;
    readonly in_flight: number;
    readonly polls_per_minute: number;
  };
  readonly timeouts: { readonly submit: string; readonly poll: string };
  readonly reconcile: 'list' | 'none';
  readonly references?: 'inline' | 'url';
  readonly callbacks: boolean;
  readonly regeneration: 'task' | 'video';
}

interface CheckedConfig {
  readonly tasks: {
    readonly database?: string;
    readonly in_flight: { readonly per_token: number; readonly total: number };
    readonly poll: {
      readonly first: string;
      readonly factor: number;
      readonly max: string;
      readonly soft_deadline: string;
      readonly hard_deadline: string;
    };
    readonly retention: string;
    readonly jobs: {
      readonly per_token: number;
      readonly total: number;
      readonly lease: string;
      readonly deadline: string;
    };
  };
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
  readonly accounts?: readonly { readonly id: string; readonly upstream_accounts?: readonly string[] }[];
}
