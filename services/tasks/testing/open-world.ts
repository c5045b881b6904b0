import path from 'node:path';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach } from '@jest/globals';
import { newIds } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import { openSql } from '@reelgate/platform/sql/open-sql';
import { Secret, acceptOnly } from '@reelgate/platform/secret';
import type { Sql } from '@reelgate/platform/sql/sql';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { recordedTracing } from './recorded-tracing.ts';
import type { RecordedTracing } from './recorded-tracing.ts';
import { callbackUrls } from '../src/operations/attempts/upstream-urls.ts';
import type { ChannelSettings } from '../src/channels/channel.ts';
import { newChannelRegistry } from '../src/channels/channel-registry.ts';
import type { Order } from '../src/domain/order.ts';
import type { TaskInState } from '../src/domain/task.ts';
import { toFinishedEvent } from '../src/events/task-events.ts';
import { createTask } from '../src/operations/creates/create-task.ts';
import type { CreateRequest, CreateResult } from '../src/operations/create-context.ts';
import type { Deps, Limits, QueueLimits } from '../src/operations/deps.ts';
import { newSharedWaits } from '../src/operations/operators/shared-waits.ts';
import { newPausedChannels } from '../src/operations/operators/pause-channel.ts';
import type { OperatorDeps } from '../src/operations/operators/pause-channel.ts';
import { newKnownLanes } from '../src/operations/lanes/known-lanes.ts';
import { newLaneRates } from '../src/operations/lanes/lane-rates.ts';
import { sqlOperators } from '../src/store/operators/sql-operators.ts';
import { sqlBacklog } from '../src/store/tasks/sql-backlog.ts';
import { SHARDS_MAX } from '../src/store/tasks/counter-shards.ts';
import { sqlTaskStore } from '../src/store/tasks/sql-task-store.ts';
import { channelSettings } from './channel-settings.ts';
import { fakeBilling } from './fake-billing.ts';
import type { FakeBilling } from './fake-billing.ts';
import { fakeMedia } from './fake-media.ts';
import type { FakeMedia } from './fake-media.ts';
import { fakeUpstream } from './fake-upstream.ts';
import type { FakeUpstream } from './fake-upstream.ts';
import { newJournal, recorded } from './journal.ts';
import type { Journal } from './journal.ts';
import { MODELS, anOrder } from './orders.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../migrations');

export interface WorldOptions {
  readonly channels?: readonly ChannelSettings[];
  readonly grants?: ReadonlyMap<string, readonly string[]>;
  readonly limits?: Limits;
  /** Default: no create waits for a channel. */
  readonly queue?: QueueLimits;
  readonly isOverloaded?: boolean;
  /** Default: true. */
  readonly areClocksTrusted?: boolean;
  /** True by default. */
  readonly isKnownAlive?: () => boolean;
}

/** What outlives a process of this service. */
interface Outside {
  readonly folder: string;
  readonly clock: FakeClock;
  readonly billing: FakeBilling;
  readonly media: FakeMedia;
  readonly upstream: FakeUpstream;
  readonly tracing: RecordedTracing;
}

/** The operations on a real SQLite store. The test controls everything around the service. */
export interface World extends Omit<Outside, 'folder'> {
  readonly deps: Deps;
  /** What only operators use, on the same store. */
  readonly operate: OperatorDeps;
  readonly sql: Sql;
  readonly journal: Journal;
  /** What was announced and what was counted. */
  readonly announced: readonly TaskInState[];
  readonly counted: readonly string[];
  create(order?: Order, changes?: Partial<CreateRequest>): Promise<CreateResult>;
  /** Another process on the same durable state. */
  restart(): Promise<World>;
}

/** Opens worlds that are closed and removed after the test. */
export function useWorlds(): (options?: WorldOptions) => Promise<World> {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  return async (options = {}) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-tasks-'));
    ends.push(async () => {
      rmSync(folder, { recursive: true });
    });
    const clock = fakeClock();
    const tracing = recordedTracing(() => clock.now());
    return openWorld(
      { folder, clock, tracing, billing: fakeBilling(), media: fakeMedia(), upstream: fakeUpstream() },
      options,
      (end) => ends.push(end),
    );
  };
}

async function openWorld(
  outside: Outside,
  options: WorldOptions,
  atEnd: (end: () => Promise<void>) => void,
): Promise<World> {
  const { folder, clock, billing, media, upstream, tracing } = outside;
  const sql = await openSql({ url: undefined, dataDir: folder, name: 'tasks', migrations: MIGRATIONS });
  const journal = newJournal();
  const newId = newIds(clock);
  const announced: TaskInState[] = [];
  const counted: string[] = [];
  const count = (...words: readonly string[]): void => void counted.push(words.join(' '));
  let addresses = 0;
  const links = {
    mediaUrl: async ({ object }: { readonly object: string }) =>
      `https://gateway.example/ximg/${object}?sig=${(addresses += 1)}`,
  };
  const operators = sqlOperators(sql, newId);
  const paused = newPausedChannels(operators, clock, () => undefined);
  await paused.read();
  const waits = newSharedWaits({ operators, announce: () => undefined, clock, log: silentLog });
  await waits.read();
  const deps: Deps = {
    store: recorded('store', sqlTaskStore(sql, newId, toFinishedEvent, SHARDS_MAX), journal),
    billing: recorded('billing', billing.port, journal),
    media: recorded('media', media.port, journal),
    mediaUrl: recorded('links', links, journal).mediaUrl,
    callbacks: callbackUrls('https://gateway.example', acceptOnly(new Secret('signing key'))),
    webhookAllow: new Set(),
    channels: newChannelRegistry(options.channels ?? [channelSettings()], {
      clock,
      adapters: { scripted: upstream.channels(journal) },
      chance: () => 0,
      isPaused: paused.has,
      waits,
    }),
    models: () => MODELS,
    grants: () => options.grants ?? new Map(),
    clock,
    newId,
    chance: () => 0,
    log: silentLog,
    tracing,
    processId: newId('proc'),
    isOverloaded: () => options.isOverloaded ?? false,
    areClocksTrusted: () => options.areClocksTrusted ?? true,
    isKnownAlive: options.isKnownAlive ?? (() => true),
    creating: new Map(),
    limits: options.limits ?? { inFlightPerToken: 20, inFlightTotal: 1000 },
    queue: { limits: options.queue, lanes: newKnownLanes(() => undefined), rates: newLaneRates(clock) },
    pollPlan: { firstMs: 3000, factor: 1.5, maxMs: 15_000 },
    announce: (task) => void announced.push(task),
    wake: {
      outbox: () => count('wake outbox'),
      events: () => count('wake events'),
      polls: (channel) => count('wake polls', channel),
      queue: () => undefined,
      batches: () => count('wake batches'),
    },
    count: {
      attempt: (channel, outcome) => count('attempt', channel, outcome),
      created: ({ order }) => count('created', order.kind),
      finished: ({ order }, { state }) => count('finished', order.kind, state),
      callback: (...words) => count('callback', ...words),
      attention: (...words) => count('attention', ...words),
      poll: (channel, outcome) => count('poll', channel, outcome),
      refused: () => count('refused'),
      refusedBy: (cause) => count('refused by', cause),
      settled: (tasks) => count('settled', String(tasks)),
      softDeadline: () => count('soft deadline'),
      claimed: ({ outcome }) => count('claim', outcome),
      notQueued: (reason) => count('not queued', reason),
      expired: (ofClass) => count('expired', ofClass),
    },
  };
  let open = true;
  const close = async (): Promise<void> => {
    if (open) await sql.close();
    open = false;
  };
  atEnd(close);
  return {
    deps,
    operate: {
      operators,
      paused,
      waits,
      backlog: sqlBacklog(sql),
      channels: deps.channels,
      channelIds: () => [...deps.channels.all().map(({ channel }) => channel.settings.id), 'relay'],
      clock,
      log: silentLog,
      announcePause: (channel) => count('announce pause', channel),
    },
    sql,
    journal,
    clock,
    billing,
    media,
    upstream,
    tracing,
    announced,
    counted,
    create: (order = anOrder(), changes = {}) =>
      createTask(deps, {
        ...{
          accountId: 'acme',
          tokenId: 'token_1',
          makers: [],
          visibleModels: ['*'],
          order,
          beside: {},
          wait: {},
          tokenWait: { for: 'channels', class: 'standard' },
        },
        ...changes,
      }),
    restart: async () => {
      await close();
      return openWorld(outside, options, atEnd);
    },
  };
}
