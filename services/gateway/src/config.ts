import {
  address,
  bytes,
  choice,
  convert,
  custom,
  decimal,
  duration,
  flag,
  list,
  readSection,
  secret,
  section,
  sectionSchema,
  text,
  whole,
} from '@reelgate/platform/config/settings';
import type { EntryAt, EntryOf, ValuesOf } from '@reelgate/platform/config/settings';
import { drainKeys } from '@reelgate/platform/config/drain-keys';
import { targetSchema } from '@reelgate/platform/rpc/grpc/target';
import type { TargetEntry } from '@reelgate/platform/rpc/grpc/target';
import { clientTls } from '@reelgate/platform/tls/tls-schema';
import type { Operator } from './console-server/session/operators-in-use.ts';
import { ROLES } from './domain/operator-role.ts';
import { isRelayChannel, relayChannelSettings } from './relay/channels/relay-channel-config.ts';
import type { RelayChannelSettings } from './relay/channels/relay-channel-config.ts';
import { realtimeKeys } from './relay/realtime/realtime-settings.ts';
import { corsKeys } from './http/cors-settings.ts';
import type { Catalogue, Model } from './domain/model-defaults.ts';
import { chooseDefaults } from './domain/model-defaults.ts';

/** An entry of `operators`, who sign in at the console of the admin port. */
const operatorKeys = {
  name: text('what acts are recorded with', { required: true, minLength: 1, maxLength: 64 }),
  // the program checks the length, because its message names the operator
  key: secret('what the operator signs in with, at least 32 characters; `openssl rand -base64 32` makes one', {
    required: true,
    minLength: 1,
    maxLength: 256,
    expects: 'from 32 to 256 characters',
  }),
  role: choice(
    '`viewer` reads; `operator` also decides over attention and pauses, resumes and tests channels; `treasurer` ' +
      'also credits accounts, makes, limits and revokes tokens, and checks the ledger',
    ROLES,
    { default: 'viewer', expects: `one of ${ROLES.join(', ')}; each may do all that the ones before it may` },
  ),
};

/** The key `operators`. */
export const operatorsKey = list('people who sign in at the operator console', section(operatorKeys, {}), {
  default: [],
  absent: 'none; on a loopback address the operator `local`',
});

export { listOperators as operatorsOf } from './console-server/session/operators-in-use.ts';
export { relayChannelEndpoints, relayChannelKeys } from './relay/channels/relay-channel-config.ts';
export { listPriceKeys as relayPriceKeys } from './relay/charges/call-charges.ts';

const TRUSTED_PROXIES_MAX = 64;
/** Twice the streams and waits that one busy program has open. */
const CONNECTIONS_PER_SOURCE = 2000;
/** Billionths of a unit of currency. */
const NANOS = 1e9;

/** The section `gateway`. */
const gatewayKeys = {
  listen: address('the public address', { default: '127.0.0.1:8080' }),
  admin: address(
    'the address of health and metrics, and of `reelgate doctor` and `reelgate profile` for callers with the scope ' +
      '`operator`',
    { absent: 'metrics on the public port, for loopback alone' },
  ),
  trusted_proxies: list(
    'the proxies whose `X-Forwarded-For` is believed, as addresses and networks such as `10.0.0.0/8`; without them a ' +
      'request comes from the address of its connection',
    custom('an address or a network', { type: 'string', format: 'network' }, {}, (network: string) => network),
    { default: [], maxItems: TRUSTED_PROXIES_MAX, expects: 'the proxies whose X-Forwarded-For is believed' },
  ),
  admin_url: text('the address of the admin port for browsers, if a proxy is before it', {
    absent: 'the port itself, plain http',
    pattern: '^https?://[^\\s/]+(/[^\\s?#]*)?$',
    expects: 'the address of the admin port for browsers, such as https://ops.example.com, without a query',
  }),
  redis: secret(
    '`redis://…`, or `rediss://…` for TLS: replicas share their rate counters, and the limits and circuits of relay ' +
      'channels, there',
    {
      absent: 'each process counts on its own',
      pattern: '^rediss?://',
      expects: 'a Redis address such as redis://127.0.0.1:6379',
    },
  ),
  limits: {
    body: bytes('the largest body of a request', { default: '64MiB', min: '1B' }),
    creates_per_minute: whole('creates of tasks, by token', { default: 60 }),
    reads_per_minute: whole('reads of tasks, lists and results, by token', { default: 600 }),
    calls_per_minute: whole('synchronous and asynchronous calls, by token', { default: 600 }),
  },
  connections: {
    per_source: whole('the connections to the public address that one source address has open at a time', {
      default: CONNECTIONS_PER_SOURCE,
    }),
  },
  bodies: {
    memory: bytes('the bytes of all request bodies in memory, at least two of the largest', {
      default: '256MiB',
      as: 'bytesMax',
    }),
    idle: duration('how long a body may be silent, or behind its least speed', { default: '15s' }),
    least_speed: bytes('the bytes of a body that must arrive in a second', {
      default: '2KiB',
      as: 'bytesPerSecondMin',
    }),
  },
  send_beside_max: convert(
    decimal(
      'the largest hold of a relayed call, in units of its currency, that may be sent beside its hold, when billing ' +
        'is as good as certain to take it',
      {
        default: '0.1',
        as: 'sendBesideMaxNanos',
        expects: 'the largest hold of a relayed call that may be sent while billing still reserves it, such as "0.10"',
      },
    ),
    (amount) => Number(amount) * NANOS,
  ),
  drain: drainKeys({ default: '90s' }),
  batches: flag(
    'whether clients have files (`/v1/files`) and batches (`/v1/batches`); without them these routes answer 501',
    { default: false, as: 'hasBatches' },
  ),
  realtime: realtimeKeys,
  async: section(
    {
      workers: whole('asynchronous calls that one gateway makes at a time; 0: it makes none', { default: 8, min: 0 }),
      drain: duration('how long a stop waits for asynchronous calls', { default: '20s' }),
    },
    { default: {}, as: 'jobs' },
  ),
  webhooks: {
    workers: whole(
      'receivers of webhooks that one gateway delivers to at a time, with up to four requests to each; 0: it ' +
        'delivers none',
      { default: 256, min: 0 },
    ),
    drain: duration(
      'how long a stop waits for running requests to receivers, which last 15 seconds at most; one that is cut off ' +
        'is sent again',
      { default: '5s' },
    ),
  },
  cors: corsKeys,
  mcp: flag('whether agents have tools at `/mcp` of the public address', { default: true, as: 'isForAgents' }),
  console: {
    clients: flag('whether clients have a console at `/console` of the public address', {
      default: true,
      as: 'isForClients',
    }),
    session: duration('how long a session of a console lasts unless it is ended earlier', { default: '12h' }),
  },
  // The program reads these addresses. It reaches a service without one where that service listens.
  services: {
    tasks: target('tasks', '127.0.0.1:9101'),
    billing: target('billing', '127.0.0.1:9102'),
    media: target('media', '127.0.0.1:9103'),
    media_http: address('the address where media serves bytes in another process; a name may have several replicas', {
      absent: '`media.http` if it is an address to call, else `127.0.0.1:9113`',
    }),
    tls: clientTls,
  },
};

function target(service: string, byDefault: string) {
  return custom(
    `where the ${service} service in another process is called over gRPC: \`host:port\`, a gRPC target or a list ` +
      'of addresses',
    targetSchema,
    { absent: `\`${service}.listen\` if it is an address to call, else \`${byDefault}\`` },
    (entry: TargetEntry) => entry,
  );
}

/** The JSON Schema of the configuration key that this service owns. */
export const gatewaySchema = { gateway: { ...sectionSchema(gatewayKeys), default: {} } };

/** The part of the shared lists of models and channels that the gateway uses. A reload can change it. */
export interface GatewayCatalogue extends Catalogue {
  /** The channels of the synchronous routes, disabled ones included. */
  readonly relay: readonly RelayChannelSettings[];
}

export type GatewayEntry = EntryOf<typeof gatewayKeys>;
type GatewayValues = ValuesOf<typeof gatewayKeys>;

export interface GatewayConfig extends Omit<GatewayValues, 'console' | 'drain' | 'services'> {
  /** The longest wait for Redis. The file cannot set it; a test on a busy machine does. */
  readonly redisDeadlineMs?: number;
  readonly console: ConsoleConfig;
  readonly catalogue: GatewayCatalogue;
}

export type ConsoleConfig = GatewayValues['console'] & {
  /** The operators who may sign in at the operator console. */
  readonly operators: readonly Operator[];
};

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
  readonly gateway: GatewayEntry;
  readonly operators?: EntryAt<typeof operatorsKey>;
  readonly models?: Readonly<Record<string, CheckedModel>>;
  readonly channels?: readonly CheckedChannel[];
}

/** Reads the settings from a value that the schema has accepted. */
export function gatewayConfig(value: unknown): GatewayConfig {
  const { gateway, operators = [] } = value as CheckedConfig;
  const { drain: _drain, services: _services, ...values } = readSection(gatewayKeys, gateway, 'gateway');
  const { bodies, limits } = values;
  return {
    ...values,
    // two of the largest always fit
    bodies: { ...bodies, bytesMax: Math.max(bodies.bytesMax, 2 * limits.bodyBytes) },
    console: { ...values.console, operators: operatorsKey.read(operators, 'operators') },
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
