import path from 'node:path';
import { freePorts } from './free-ports.ts';

export interface ConfigOptions {
  readonly dir: string;
  /** `host:port` of the upstream. */
  readonly upstream: string;
  readonly bus?: string | undefined;
  readonly redis?: string | undefined;
  readonly databases?: Readonly<Partial<Record<'tasks' | 'billing' | 'media', string>>> | undefined;
  /** A test's own settings of the tasks service and of the channel. */
  readonly tasks?: object;
  readonly channel?: object;
}

/** The token keys of the accounts that every test program has. */
export const KEYS = {
  demo: 'sk-demo-0123456789',
  other: 'sk-other-0123456789',
  poor: 'sk-poor-0123456789',
  narrow: 'sk-narrow-0123456789',
} as const;
/** Callers for the account demo: one without scopes, and one for each scope that a configuration may grant. */
export const GRANTABLE_SCOPES = [
  'tasks.read',
  'tasks.write',
  'webhooks.read',
  'webhooks.write',
  'account.read',
  'tokens.write',
  'operator',
] as const;
export const callerKey = (name: string): string => `caller-key-of-${name}`.padEnd(32, '-');
const CALLERS = [
  { name: 'reporting', key: callerKey('reporting'), accounts: ['demo'] },
  ...GRANTABLE_SCOPES.map((scope) => ({
    name: `only ${scope}`,
    key: callerKey(scope),
    accounts: ['demo'],
    scopes: [scope],
  })),
  {
    name: 'pipeline',
    key: callerKey('pipeline'),
    accounts: ['demo'],
    scopes: ['tasks.read', 'tasks.write', 'account.read', 'tokens.write'],
  },
  { name: 'console', key: callerKey('console'), accounts: ['*'], scopes: ['operator', 'account.read'] },
];
export const SIGNING_KEY = 'signing-key-of-the-tests';
export const UPSTREAM_KEY = 'upstream-secret-key';
export const UPSTREAM_MODEL = 'upstream-model-of-the-test';
export const CHANNEL = 'channel-of-the-test';

/** No other replica takes the calls of a stopped process, so a test does not wait for callers that move to one. */
const NO_LEAD = { lead: '0s' };

const ENDPOINTS = ['video.generation', 'video.regeneration', 'video.context_ir'];

/** A complete configuration on free ports, with every port of every service open. */
export async function testConfig({
  dir,
  upstream,
  bus,
  redis,
  databases = {},
  tasks: tasksChanges,
  channel,
}: ConfigOptions) {
  const [http = 0, admin = 0, tasks = 0, tasksHttp = 0, billing = 0, billingHttp = 0, media = 0, mediaHttp = 0] =
    await freePorts(8);
  const at = (port: number): string => `127.0.0.1:${port}`;
  const shared: { readonly redis?: string } = redis === undefined ? {} : { redis };
  return {
    public_url: `http://${at(http)}`,
    data_dir: path.join(dir, 'data'),
    signing_key: SIGNING_KEY,
    ...(bus === undefined ? {} : { bus }),
    gateway: {
      drain: NO_LEAD,
      listen: at(http),
      admin: at(admin),
      ...shared,
      limits: { body: '64MiB', creates_per_minute: 10_000, reads_per_minute: 100_000 },
      services: { tasks: at(tasks), billing: at(billing), media: at(media), media_http: at(mediaHttp) },
    },
    tasks: {
      drain: NO_LEAD,
      listen: at(tasks),
      http: at(tasksHttp),
      poll: { first: '200ms', factor: 1.5, max: '500ms' },
      in_flight: { per_token: 500, total: 2000 },
      ...shared,
      ...database(databases.tasks),
      ...tasksChanges,
    },
    billing: { drain: NO_LEAD, listen: at(billing), http: at(billingHttp), ...database(databases.billing) },
    media: {
      drain: NO_LEAD,
      listen: at(media),
      http: at(mediaHttp),
      fetch: { allow: [{ host: upstream, for: 'results' }] as readonly (string | object)[] },
      ...database(databases.media),
    },
    internal_callers: CALLERS,
    models: {
      'Alpha-H3': {
        kind: 'video',
        duration: [4, 15],
        resolutions: ['768P', '2K'],
        ratios: ['adaptive', '21:9', '16:9', '4:3', '1:1', '3:4', '9:16'],
      },
      'Beta-V1': { kind: 'video', duration: [5, 10], resolutions: ['480P', '768P'], ratios: ['adaptive', '16:9'] },
    },
    channels: [
      {
        id: CHANNEL,
        adapter: 'alpha-v2',
        base_url: `http://${upstream}`,
        api_key: UPSTREAM_KEY,
        upstream_account: 'account-of-the-test',
        endpoints: ENDPOINTS,
        models: { 'Alpha-H3': UPSTREAM_MODEL, 'Beta-V1': UPSTREAM_MODEL },
        limits: { requests_per_minute: 100_000, in_flight: 1000 },
        ...channel,
      },
    ],
    prices: {
      'Alpha-H3': { per_second: { '768P': '0.08', '2K': '0.13' }, images: { free: 5, each: '0.04' } },
      'Alpha-H3__regeneration': { per_second: '0.05' },
      'Alpha-H3__context_ir': { per_million_tokens: { input: '0.90', output: '3.60' }, hold: '0.05' },
    },
    accounts: [
      {
        id: 'demo',
        credit: '100.00',
        tokens: [
          { key: KEYS.demo, models: ['*'] },
          { key: KEYS.narrow, models: ['Beta-V1'] },
        ],
      },
      { id: 'other', credit: '100.00', tokens: [{ key: KEYS.other, models: ['*'] }] },
      { id: 'poor', credit: '0.10', tokens: [{ key: KEYS.poor, models: ['*'] }] },
    ],
  };
}

type WrittenConfig = Awaited<ReturnType<typeof testConfig>>;

export type TestConfig = Omit<WrittenConfig, 'tasks'> & {
  readonly tasks: WrittenConfig['tasks'] & { readonly queue?: object };
};

function database(url: string | undefined): { database?: string } {
  return url === undefined ? {} : { database: url };
}
