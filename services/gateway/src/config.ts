import { Secret } from '@reelgate/platform/secret';
import { parseBytes, parseDuration, parseHostPort } from '@reelgate/platform/config/units';
import type { HostPort } from '@reelgate/platform/config/units';
import { targetSchema } from '@reelgate/platform/rpc/grpc/target';
import { drainSchema } from '@reelgate/platform/lifecycle/drain-schema';
import { clientTlsSchema } from '@reelgate/platform/tls/tls-schema';
import type { Operator } from './console-server/session/operators-in-use.ts';
import { ROLES } from './domain/operator-role.ts';
import type { Role } from './domain/operator-role.ts';
import { isRelayChannel, relayChannelSettings } from './relay/channels/relay-channel-config.ts';
import type { RelayChannelSettings } from './relay/channels/relay-channel-config.ts';
import { realtimeProperties, realtimeSettings } from './relay/realtime/realtime-settings.ts';
import type { CheckedRealtime, RealtimeSettings } from './relay/realtime/realtime-settings.ts';
import { corsProperties } from './http/cors-settings.ts';
import type { CorsSettings } from './http/cors-settings.ts';
import type { Catalogue } from './domain/catalogue.ts';
import { chooseDefaults } from './domain/model-defaults.ts';
import type { Model } from './domain/model-defaults.ts';
import type { RateLimits } from './domain/rate-limits.ts';

/** The JSON Schema of the operators, who sign in at the console of the admin port. */
export const operatorsSchema = {
  type: 'array',
  default: [],
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['name', 'key'],
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 64, description: 'what acts are recorded with' },
      // the program checks the length, because its message names the operator
      key: { type: 'string', minLength: 1, maxLength: 256, description: 'from 32 to 256 characters' },
      role: {
        enum: ROLES,
        default: 'viewer',
        description: `one of ${ROLES.join(', ')}; each may do all that the ones before it may`,
      },
    },
  },
} as const;

export { listOperators as operatorsOf } from './console-server/session/operators-in-use.ts';
export { relayChannelSchema } from './relay/channels/relay-channel-config.ts';
export { listPriceKeys as relayPriceKeys } from './relay/charges/call-charges.ts';

const TRUSTED_PROXIES_MAX = 64;
const COUNT_MAX = 2 ** 31 - 1;
/** Twice the streams and waits that one busy program has open. */
const CONNECTIONS_PER_SOURCE = 2000;
/** Billionths of a unit of currency. */
const NANOS = 1e9;

const address = (fallback?: string): object => ({
  type: 'string',
  format: 'host-port',
  ...(fallback === undefined ? {} : { default: fallback }),
});
const count = (fallback: number): object => ({
  type: 'integer',
  minimum: 1,
  maximum: COUNT_MAX,
  default: fallback,
  description: `a whole number from 1 to ${COUNT_MAX}`,
});
const section = (properties: object): object => ({
  type: 'object',
  additionalProperties: false,
  default: {},
  properties,
});

/** The JSON Schema of the configuration key that this service owns. */
export const gatewaySchema = {
  gateway: section({
    listen: address('127.0.0.1:8080'),
    admin: address(),
    trusted_proxies: {
      type: 'array',
      default: [],
      maxItems: TRUSTED_PROXIES_MAX,
      items: { type: 'string', format: 'network' },
      description: 'the proxies whose X-Forwarded-For is believed',
    },
    admin_url: {
      type: 'string',
      pattern: '^https?://[^\\s/]+(/[^\\s?#]*)?$',
      description: 'the address of the admin port for browsers, such as https://ops.example.com, without a query',
    },
    redis: { type: 'string', pattern: '^rediss?://', description: 'a Redis address such as redis://127.0.0.1:6379' },
    limits: section({
      body: { type: 'string', format: 'bytes', default: '64MiB' },
      creates_per_minute: count(60),
      reads_per_minute: count(600),
      calls_per_minute: count(600),
    }),
    connections: section({ per_source: count(CONNECTIONS_PER_SOURCE) }),
    bodies: section({
      memory: {
        type: 'string',
        format: 'bytes',
        default: '256MiB',
        description: 'the bytes of all request bodies in memory, and at least two of the largest',
      },
      idle: {
        type: 'string',
        format: 'duration',
        default: '15s',
        description: 'how long a body may be silent, or behind its least speed',
      },
      least_speed: {
        type: 'string',
        format: 'bytes',
        default: '2KiB',
        description: 'the bytes of a body that must arrive in a second',
      },
    }),
    send_beside_max: {
      type: 'string',
      format: 'decimal',
      default: '0.1',
      description:
        'the largest hold of a relayed call that may be sent while billing still reserves it, such as "0.10"',
    },
    drain: drainSchema('90s'),
    batches: {
      type: 'boolean',
      default: false,
      description: 'whether clients have files and batches; without them /v1/files answers 501',
    },
    realtime: section(realtimeProperties),
    async: section({
      workers: { ...count(8), minimum: 0, description: `a whole number from 0 to ${COUNT_MAX}` },
      drain: { type: 'string', format: 'duration', default: '20s' },
    }),
    webhooks: section({
      workers: { ...count(256), minimum: 0, description: `a whole number from 0 to ${COUNT_MAX}` },
      drain: { type: 'string', format: 'duration', default: '5s' },
    }),
    cors: section(corsProperties),
    mcp: {
      type: 'boolean',
      default: true,
      description: 'whether agents have tools at /mcp of the public port',
    },
    console: section({
      clients: {
        type: 'boolean',
        default: true,
        description: 'whether clients have a console at /console of the public port',
      },
      session: { type: 'string', format: 'duration', default: '12h' },
    }),
    // The program reads these addresses. It reaches a service without one where that service listens.
    services: section({
      tasks: targetSchema,
      billing: targetSchema,
      media: targetSchema,
      media_http: address(),
      tls: clientTlsSchema,
    }),
  }),
} as const;

export interface GatewayLimits extends RateLimits {
  readonly bodyBytes: number;
}

/** The bounds on all request bodies together, and how slowly one may arrive. */
export interface BodySettings {
  readonly bytesMax: number;
  readonly idleMs: number;
  readonly bytesPerSecondMin: number;
}

/** The part of the shared lists of models and channels that the gateway uses. A reload can change it. */
export interface GatewayCatalogue extends Catalogue {
  /** The channels of the synchronous routes, disabled ones included. */
  readonly relay: readonly RelayChannelSettings[];
}

export interface GatewayConfig {
  readonly listen: HostPort;
  /** The address of the admin port; undefined if there is none. */
  readonly admin: HostPort | undefined;
  /** Addresses and networks of proxies, which say where a request comes from. */
  readonly trustedProxies: readonly string[];
  /** The address of the admin port for browsers; undefined if it is that of the port itself. */
  readonly adminUrl: string | undefined;
  /** The address of Redis; undefined if each process counts requests on its own. */
  readonly redis: Secret | undefined;
  /** The longest wait for Redis. The file cannot set it; a test on a busy machine does. */
  readonly redisDeadlineMs?: number;
  readonly limits: GatewayLimits;
  /** The most connections that one source address has open at once. */
  readonly connectionsPerSource: number;
  readonly bodies: BodySettings;
  /** The largest hold, in billionths, that a call may be sent beside. */
  readonly sendBesideMaxNanos: number;
  /** True if clients have files and batches. */
  readonly hasBatches: boolean;
  readonly realtime: RealtimeSettings;
  /** The number of workers for asynchronous calls, and the longest wait of a stop for them. */
  readonly jobs: { readonly workers: number; readonly drainMs: number };
  /** The number of receivers that webhooks are delivered to at once, and the longest wait of a stop for attempts. */
  readonly webhooks: { readonly workers: number; readonly drainMs: number };
  /** The pages of other origins that may use the public port. */
  readonly cors: CorsSettings;
  /** True if the public port has the tools for agents. */
  readonly isForAgents: boolean;
  readonly console: ConsoleConfig;
  readonly catalogue: GatewayCatalogue;
}

export interface ConsoleConfig {
  /** True if the public port has the console for clients. */
  readonly isForClients: boolean;
  /** The duration of a session in milliseconds. */
  readonly sessionMs: number;
  /** The operators who may sign in at the operator console. */
  readonly operators: readonly Operator[];
}

interface CheckedModel {
  readonly duration: readonly [number, number];
  readonly resolutions: readonly string[];
  readonly ratios: readonly string[];
  readonly defaults?: Partial<Model['defaults']>;
}

/** The gateway reads only the models of the tasks service's channels. */
interface CheckedChannel {
  readonly adapter?: string;
  readonly enabled?: boolean;
  readonly models?: Readonly<Record<string, string>>;
}

interface CheckedConfig {
  readonly gateway: {
    readonly listen: string;
    readonly admin?: string;
    readonly trusted_proxies: readonly string[];
    readonly admin_url?: string;
    readonly redis?: string;
    readonly limits: {
      readonly body: string;
      readonly creates_per_minute: number;
      readonly reads_per_minute: number;
      readonly calls_per_minute: number;
    };
    readonly connections: { readonly per_source: number };
    readonly bodies: { readonly memory: string; readonly idle: string; readonly least_speed: string };
    readonly send_beside_max: string;
    readonly batches: boolean;
    readonly realtime: CheckedRealtime;
    readonly async: { readonly workers: number; readonly drain: string };
    readonly webhooks: { readonly workers: number; readonly drain: string };
    readonly cors: CorsSettings;
    readonly mcp: boolean;
    readonly console: { readonly clients: boolean; readonly session: string };
  };
  readonly operators?: readonly { readonly name: string; readonly key: string; readonly role: Role }[];
  readonly models?: Readonly<Record<string, CheckedModel>>;
  readonly channels?: readonly CheckedChannel[];
}

/** Reads the settings from a value that the schema has accepted. */
export function gatewayConfig(value: unknown): GatewayConfig {
  const {
    listen,
    admin,
    trusted_proxies: trustedProxies,
    admin_url: adminUrl,
    redis,
    limits,
    connections,
    bodies,
    send_beside_max: besideMax,
    batches: hasBatches,
    realtime,
    async: jobs,
    webhooks,
    cors,
    mcp: isForAgents,
    console: pages,
  } = (value as CheckedConfig).gateway;
  return {
    listen: readHostPort(listen),
    admin: admin === undefined ? undefined : readHostPort(admin),
    trustedProxies,
    adminUrl,
    redis: redis === undefined ? undefined : new Secret(redis),
    limits: {
      bodyBytes: parseBytes(limits.body) ?? 0,
      createsPerMinute: limits.creates_per_minute,
      readsPerMinute: limits.reads_per_minute,
      callsPerMinute: limits.calls_per_minute,
    },
    connectionsPerSource: connections.per_source,
    bodies: {
      // two of the largest always fit
      bytesMax: Math.max(parseBytes(bodies.memory) ?? 0, 2 * (parseBytes(limits.body) ?? 0)),
      idleMs: parseDuration(bodies.idle) ?? 0,
      bytesPerSecondMin: parseBytes(bodies.least_speed) ?? 0,
    },
    sendBesideMaxNanos: Number(besideMax) * NANOS,
    hasBatches,
    realtime: realtimeSettings(realtime),
    jobs: { workers: jobs.workers, drainMs: parseDuration(jobs.drain) ?? 0 },
    webhooks: { workers: webhooks.workers, drainMs: parseDuration(webhooks.drain) ?? 0 },
    cors: { origins: cors.origins, links: cors.links },
    isForAgents,
    console: {
      isForClients: pages.clients,
      sessionMs: parseDuration(pages.session) ?? 0,
      operators: ((value as CheckedConfig).operators ?? []).map(({ name, key, role }) => ({
        name,
        role,
        key: new Secret(key),
      })),
    },
    catalogue: readCatalogue(value),
  };
}

/** Reads the part that a reload can change. */
export function readCatalogue(value: unknown): GatewayCatalogue {
  const { models = {}, channels = [] } = value as CheckedConfig;
  const enabled = channels.filter((channel) => channel.enabled !== false);
  return {
    models: new Map(Object.entries(models).map(([id, model]) => [id, toModel(model)])),
    offered: [...new Set(enabled.flatMap((channel) => Object.keys(channel.models ?? {})))],
    relay: channels.filter(isRelayChannel).map(relayChannelSettings),
  };
}

function toModel({ duration: [min, max], resolutions, ratios, defaults }: CheckedModel): Model {
  const model = { duration: { min, max }, resolutions, ratios };
  return { ...model, defaults: chooseDefaults(model, defaults) };
}

function readHostPort(text: string): HostPort {
  const parsed = parseHostPort(text);
  if (parsed === undefined) throw new Error(`expected host:port, got ${text}`);
  return parsed;
}
