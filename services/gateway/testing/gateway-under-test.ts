import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { create } from '@bufbuild/protobuf';
import { JobEndedSchema, JobQueuedSchema } from '@reelgate/proto/tasks/v1/job_events';
import { newLocalBus } from '@reelgate/platform/bus/local-bus';
import type { Bus } from '@reelgate/platform/bus/bus';
import { readConfigFile } from '@reelgate/platform/config/config-file';
import { newIds, systemRandom } from '@reelgate/platform/ids';
import { describeError } from '@reelgate/platform/describe-error';
import { hostCheck } from '@reelgate/platform/http/allowed-hosts';
import { silentLog } from '@reelgate/platform/log';
import type { Log } from '@reelgate/platform/log';
import { newMetrics } from '@reelgate/platform/metrics/metrics';
import { Secret, acceptOnly } from '@reelgate/platform/secret';
import { untilAfter } from '@reelgate/platform/testing/until';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import type { Tracing } from '@reelgate/platform/trace/trace';
import { NO_TRACING } from '@reelgate/platform/trace/trace';
import { openGatewayPorts, startGateway } from '../src/app.ts';
import type { RunningGateway } from '../src/app.ts';
import { gatewayConfig, gatewaySchema, operatorsKey } from '../src/config.ts';
import type { CheckedRelayChannel } from '../src/relay/channels/relay-channel-config.ts';
import { fakeAccounts } from './fake-accounts.ts';
import type { FakeAccounts } from './fake-accounts.ts';
import { fakeBooks } from './fake-books.ts';
import type { FakeBooks } from './fake-books.ts';
import { fakeCalls } from './fake-calls.ts';
import type { FakeCalls } from './fake-calls.ts';
import { fakeBatches } from './fake-batches.ts';
import type { FakeBatches } from './fake-batches.ts';
import { fakeFiles } from './fake-files.ts';
import type { FakeFiles } from './fake-files.ts';
import { fakeJobs } from './fake-jobs.ts';
import type { FakeJobs } from './fake-jobs.ts';
import { fakeOperator } from './fake-operator.ts';
import type { OperatorMethods } from './fake-operator.ts';
import { fakeBilling, fakeMedia, fakeTasks } from './fake-services.ts';
import type { FakeBilling, FakeMedia, FakeTasks } from './fake-services.ts';
import { fakeSessions } from './fake-sessions.ts';
import type { FakeSessions } from './fake-sessions.ts';
import { fakeUsage } from './fake-usage.ts';
import type { FakeUsage } from './fake-usage.ts';
import { fakeWebhooks } from './fake-webhooks.ts';
import type { FakeWebhooks } from './fake-webhooks.ts';
import { fakeSends } from './fake-webhook-work.ts';
import type { FakeSends } from './fake-webhook-work.ts';

/** For a busy machine. */
const REDIS_DEADLINE_MS = 5000;
const PUBLIC_URL = 'https://gateway.example';

/** The keys of the operators of a gateway under test, by their role, which is their name too. */
export const OPERATOR_KEYS = {
  viewer: 'key-of-the-viewer-0123456789abcdef',
  operator: 'key-of-the-operator-0123456789abcdef',
  treasurer: 'key-of-the-treasurer-0123456789abcdef',
} as const;

export interface GatewayUnderTest {
  readonly gateway: RunningGateway;
  readonly url: string;
  readonly clock: FakeClock;
  readonly bus: Bus;
  readonly tasks: FakeTasks;
  readonly billing: FakeBilling;
  readonly books: FakeBooks;
  readonly accounts: FakeAccounts;
  readonly media: FakeMedia;
  readonly files: FakeFiles;
  readonly batches: FakeBatches;
  readonly calls: FakeCalls;
  readonly jobs: FakeJobs;
  readonly webhooks: FakeWebhooks;
  readonly sends: FakeSends;
  /** Resolves once `count` calls are settled. */
  settled(count: number): Promise<void>;
  readonly usage: FakeUsage;
  readonly sessions: FakeSessions;
  /** The warnings in the log. */
  readonly warnings: { readonly fields: object; readonly message: string }[];
  /** The sentences of the errors in the log. */
  readonly errors: readonly string[];
  stop(): Promise<void>;
}

export interface TestSettings {
  /** Makes the gateways replicas of each other. By default, each has a bus of its own. */
  readonly bus?: Bus;
  readonly limits?: {
    readonly body?: string;
    readonly creates_per_minute?: number;
    readonly reads_per_minute?: number;
    readonly calls_per_minute?: number;
  };
  readonly channels?: readonly CheckedRelayChannel[];
  readonly bodies?: { readonly memory?: string; readonly idle?: string; readonly least_speed?: string };
  /** Whether clients have files and batches. */
  readonly batches?: boolean;
  readonly cors?: { readonly origins?: readonly string[]; readonly links?: boolean };
  /** Default: true. */
  readonly mcp?: boolean;
  readonly admin?: string;
  readonly trustedProxies?: readonly string[];
  readonly redis?: string;
  readonly host?: string;
  /** Absent: nothing is recorded. */
  readonly tracing?: Tracing;
  /** Absent: its own. */
  readonly sessions?: FakeSessions;
  readonly publicUrl?: string;
  readonly adminUrl?: string;
  /** Default: one for each role. */
  readonly operators?: readonly object[];
  /** What the services answer to the operator console. */
  readonly operator?: OperatorMethods;
}

const MODELS = {
  'Alpha-H3': {
    kind: 'video',
    duration: [4, 15],
    resolutions: ['768P', '2K'],
    ratios: ['adaptive', '21:9', '16:9', '4:3', '1:1', '3:4', '9:16'],
  },
  'Beta-V1': { kind: 'video', duration: [6, 10], resolutions: ['480P', '720P'], ratios: ['adaptive', '1:1', '9:16'] },
};

const SCHEMA = {
  type: 'object',
  additionalProperties: true,
  properties: { ...gatewaySchema, operators: operatorsKey.schema },
};

/** The configuration as a program gives it to the gateway: read by the schema, which fills in the defaults. */
export function checkedConfig({
  limits = {},
  bodies = {},
  channels = [],
  batches = false,
  admin,
  trustedProxies = [],
  redis,
  host = '127.0.0.1',
  cors = {},
  mcp = true,
  adminUrl,
  operators = Object.entries(OPERATOR_KEYS).map(([role, key]) => ({ name: role, role, key })),
}: TestSettings = {}): unknown {
  return readThrough({
    gateway: {
      listen: `${host}:0`,
      batches,
      trusted_proxies: trustedProxies,
      cors,
      mcp,
      ...(admin === undefined ? {} : { admin }),
      ...(adminUrl === undefined ? {} : { admin_url: adminUrl }),
      ...(redis === undefined ? {} : { redis }),
      limits: {
        creates_per_minute: 100_000,
        reads_per_minute: 100_000,
        calls_per_minute: 100_000,
        ...limits,
      },
      bodies,
      async: { workers: 4, drain: '1s' },
    },
    models: MODELS,
    operators,
    channels: [
      { id: 'one', models: { 'Alpha-H3': 'up-h3', 'Beta-V1': 'up-beta' } },
      { id: 'off', enabled: false, models: { Hidden: 'up-hidden' } },
      ...channels,
    ],
  });
}

function readThrough(value: object): unknown {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-under-test-'));
  try {
    const file = path.join(folder, 'reelgate.yaml');
    writeFileSync(file, JSON.stringify(value));
    return readConfigFile(file, SCHEMA, {}).value;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The whole gateway on a free port, with fakes of the other services. */
export async function startGatewayUnderTest(settings: TestSettings = {}): Promise<GatewayUnderTest> {
  const clock = fakeClock();
  const warnings: { readonly fields: object; readonly message: string }[] = [];
  const errors: string[] = [];
  const log: Log = {
    ...silentLog,
    warn: (fields, message) => void warnings.push({ fields, message }),
    error: (fields, message) => void errors.push('err' in fields ? describeError(fields.err).message : message),
  };
  const bus = settings.bus ?? newLocalBus(clock, silentLog);
  const [tasks, billing, media, calls, usage, jobs] = [
    fakeTasks(),
    fakeBilling(),
    fakeMedia(),
    fakeCalls(),
    fakeUsage(),
    fakeJobs(
      (jobId) => {
        bus.announce(JobQueuedSchema, create(JobQueuedSchema, { jobId }));
      },
      (job) => {
        bus.announce(JobEndedSchema, create(JobEndedSchema, job));
      },
    ),
  ];
  const files = fakeFiles(media);
  const batches = fakeBatches();
  const [webhooks, sends, books, accounts] = [fakeWebhooks(), fakeSends(), fakeBooks(), fakeAccounts()];
  const operator = fakeOperator(settings.operator);
  const sessions = settings.sessions ?? fakeSessions();
  const config = { ...gatewayConfig(checkedConfig(settings)), redisDeadlineMs: REDIS_DEADLINE_MS };
  const [metrics, newId] = [newMetrics(false), newIds(clock)];
  const ports = await openGatewayPorts(
    config,
    { publicUrl: settings.publicUrl ?? PUBLIC_URL, metrics, newId, clock, log },
    async () => true,
    hostCheck(['gateway.example']),
  );
  const gateway = await startGateway(
    config,
    {
      clock,
      bus,
      log,
      metrics,
      random: systemRandom,
      newId,
      signingKey: new Secret('a key'),
      acceptedKeys: acceptOnly(new Secret('a key')),
      tracing: settings.tracing ?? NO_TRACING,
      publicUrl: settings.publicUrl ?? PUBLIC_URL,
      dataDir: '/nowhere',
    },
    {
      tasks: tasks.client,
      jobs: jobs.client,
      webhooks: webhooks.client,
      billing: { ...books.billing, ...billing.client },
      accounts: { ...books.accounts, ...accounts.client },
      calls: calls.client,
      usage: usage.client,
      sessions: sessions.client,
      media: media.port,
      files: files.client,
      batches: batches.client,
      sender: sends.client,
      pauses: operator.tasks,
      operator,
    },
    ports,
  );
  return {
    gateway,
    url: gateway.url,
    clock,
    bus,
    tasks,
    billing,
    books,
    accounts,
    media,
    files,
    batches,
    calls,
    usage,
    sessions,
    jobs,
    webhooks,
    sends,
    warnings,
    errors,
    settled: (count) => untilAfter(clock, () => calls.settled.length >= count),
    stop: async () => {
      await gateway.stop();
      await ports.admin?.stop();
      if (settings.bus === undefined) await bus.close();
    },
  };
}
