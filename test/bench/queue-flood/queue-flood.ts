import { setTimeout as wait } from 'node:timers/promises';
import { httpCaller } from '../../harness/client.ts';
import type { HttpCaller } from '../../harness/client.ts';
import { newDatabases } from '../../harness/databases.ts';
import { newProgram } from '../../harness/program.ts';
import type { Program, Shape } from '../../harness/program.ts';
import { startTasksReplica } from '../../harness/replica.ts';
import type { TestConfig } from '../../harness/test-config.ts';
import { natsServer } from '../../servers/nats-server.ts';
import { postgresServer } from '../../servers/postgres-server.ts';
import { redisServer } from '../../servers/redis-server.ts';
import { quantile } from '../load.ts';
import type { Line } from '../table.ts';
import { startRecordedSandbox, writePrompt } from './recorded-sandbox.ts';
import type { Arrival, RecordedSandbox } from './recorded-sandbox.ts';
import { readAccount } from '../../harness/records.ts';

/** Starts a minute of the two channels: together four a second. */
const PER_MINUTE = { wide: 150, narrow: 90 };
const PER_SECOND = (PER_MINUTE.wide + PER_MINUTE.narrow) / 60;
/** More than the tasks that run at once: each runs for ten seconds. */
const IN_FLIGHT = 500;
const RUN_SECONDS = 10;
const ACCOUNTS = ['flood', 'steady', 'bursts'] as const;
type Account = (typeof ACCOUNTS)[number];
const FLOOD = 10_000;
const BURST = 50;
const BURST_EVERY_MS = 60_000;
const STEADY_EVERY_MS = 1000;
const CREATES_AT_ONCE = 32;
const CREATE_TRIES_MAX = 120;
const CREATE_AGAIN_MS = 500;
/** A weight holds for the turns that follow. */
const SETTLE_MS = 15_000;
const WEIGHTS: Readonly<Record<Account, number>> = { flood: 1, steady: 1, bursts: 4 };
/** Between two faults in replicas. */
const FAULT_EVERY_MS = 8000;
const KILLED_MS = 500;
/** A cancel ends up to a thousand tasks, or those of five seconds. */
const CANCELS_MAX = 200;
const REST_TIMEOUT_MS = 180_000;
const REASON = ['--reason', 'a benchmark'];

/** A program, its upstream and the orders of each account. */
interface World {
  readonly program: Program;
  readonly sandbox: RecordedSandbox;
  /** The ids of accepted creates. */
  readonly created: Readonly<Record<Account, string[]>>;
  /** The moment of each create, by its number. */
  readonly asked: Readonly<Record<Account, number[]>>;
}

/** A flood of 10,000, an account that orders one a second and one that orders in bursts, over two limited channels. */
export async function queueFloodBench(minutes: number): Promise<readonly Line[]> {
  return [...(await measureShares(minutes)), ...(await measureFaults(minutes))];
}

async function measureShares(minutes: number): Promise<readonly Line[]> {
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const world = await openWorld('one program', {}, ends);
    const waits = await measureWaits(world, minutes * 60_000);
    const shares = await measureWeights(world, minutes * 60_000);
    return [...waits, ...shares, ...(await settle(world, 'one program'))];
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

/** The waits of accounts within their share while another one floods the queue. */
async function measureWaits(world: World, ms: number): Promise<readonly Line[]> {
  const from = performance.now();
  const flood = createMany(world, 'flood', FLOOD);
  const stop = AbortSignal.timeout(ms);
  await Promise.all([
    every(STEADY_EVERY_MS, stop, () => createMany(world, 'steady', 1)),
    every(BURST_EVERY_MS, stop, () => createMany(world, 'bursts', BURST)),
  ]);
  const to = performance.now();
  await flood;
  const started = listArrivals(world, from, to);
  const startedAt = new Map(
    started.flatMap(({ account, number, at }) => (account === 'steady' ? [[number, at] as const] : [])),
  );
  // what still waits has waited until now
  const waits = world.asked.steady.map((askedAt, number) => (startedAt.get(number) ?? to) - askedAt);
  return [
    { what: 'one a second beside a flood: wait, p50', figure: quantile(waits, 0.5), unit: 'ms', goal: 'up to 1 s' },
    { what: 'one a second beside a flood: wait, p99', figure: quantile(waits, 0.99), unit: 'ms', goal: 'up to 5 s' },
    describeCapacity(started.length, to - from),
  ];
}

/** The starts of accounts that all have more tasks than turns. */
async function measureWeights(world: World, ms: number): Promise<readonly Line[]> {
  const needed = Math.ceil((PER_SECOND * (ms + SETTLE_MS)) / 1000);
  await Promise.all([createMany(world, 'steady', needed), createMany(world, 'bursts', needed)]);
  for (const account of ACCOUNTS) await command(world, 'queue', 'weight', account, String(WEIGHTS[account]), ...REASON);
  await wait(SETTLE_MS);
  const from = performance.now();
  await wait(ms);
  const to = performance.now();
  const started = listArrivals(world, from, to);
  const weights = ACCOUNTS.reduce((sum, account) => sum + WEIGHTS[account], 0);
  return [
    ...ACCOUNTS.map((name) => ({
      what: `starts of the account with the weight ${WEIGHTS[name]} (${name}; baseline: its share)`,
      figure: started.filter(({ account }) => account === name).length,
      baseline: (started.length * WEIGHTS[name]) / weights,
      unit: '',
      goal: '0.95 to 1.05',
    })),
    describeCapacity(started.length, to - from),
  ];
}

/** The same load on replicas that are killed, with channels that pause, cancels of thousands and changed weights. */
async function measureFaults(minutes: number): Promise<readonly Line[]> {
  const ends: (() => Promise<unknown>)[] = [];
  const missing = [postgresServer, natsServer, redisServer].map((server) => server.missing()).find(Boolean);
  if (missing !== undefined) return [{ what: 'the same in replicas, with faults', skipped: missing }];
  try {
    const [postgres, nats, redis] = [
      (await postgresServer.start())!,
      (await natsServer.start())!,
      (await redisServer.start())!,
    ];
    for (const server of [postgres, nats, redis]) ends.push(() => server.stop());
    const databases = await newDatabases(postgres.url);
    const world = await openWorld('four processes', { bus: nats.url, redis: redis.url, databases }, ends);
    const replica = await startTasksReplica(world.program);
    ends.push(() => replica.stop());
    const stop = AbortSignal.timeout(minutes * 60_000);
    const before = performance.now();
    const flood = createMany(world, 'flood', FLOOD);
    await Promise.all([
      every(STEADY_EVERY_MS, stop, () => createMany(world, 'steady', 1)),
      every(BURST_EVERY_MS, stop, () => createMany(world, 'bursts', BURST)),
      disturb(world, stop),
    ]);
    await flood;
    const started = listArrivals(world, before, performance.now()).length;
    return [
      { what: 'replicas with faults: starts', figure: started, unit: '' },
      ...(await settle(world, 'replicas with faults')),
    ];
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

/** One fault after the other, until the stop. Each mends itself, or is mended by the next one. */
async function disturb(world: World, stop: AbortSignal): Promise<void> {
  const { program } = world;
  const kill = async (service: 'tasks' | 'billing'): Promise<void> => {
    await program.killOne(service, KILLED_MS);
    await program.ready();
  };
  const faults: readonly (() => Promise<unknown>)[] = [
    () => kill('tasks'),
    () => command(world, 'channel', 'pause', 'wide', ...REASON),
    () => command(world, 'queue', 'weight', 'bursts', '4', ...REASON),
    () => command(world, 'channel', 'resume', 'wide', ...REASON),
    () => command(world, 'queue', 'cancel', '--account', 'flood', ...REASON),
    () => command(world, 'queue', 'hold', '--account', 'bursts', ...REASON),
    () => kill('billing'),
    () => command(world, 'queue', 'release', '--account', 'bursts', ...REASON),
    () => command(world, 'queue', 'cancel', '--account', 'flood', ...REASON),
    () => command(world, 'queue', 'weight', 'bursts', '1', ...REASON),
  ];
  for (let turn = 0; !stop.aborted; turn += 1) {
    await wait(FAULT_EVERY_MS);
    await faults[turn % faults.length]!();
  }
  await command(world, 'channel', 'resume', 'wide', ...REASON);
  await command(world, 'queue', 'release', '--account', 'bursts', ...REASON);
}

/** Cancels what waits, and counts what went wrong: each task has an end, no order came twice, and no money is held. */
async function settle(world: World, where: string): Promise<readonly Line[]> {
  const { program, sandbox, created } = world;
  let cancelled = 0;
  for (const account of ACCOUNTS)
    for (let calls = 0; calls < CANCELS_MAX; calls += 1) {
      const ended = await command(world, 'queue', 'cancel', '--account', account, ...REASON);
      cancelled += (ended as { readonly cancelled: number }).cancelled;
      if (!(ended as { readonly hasMore: boolean }).hasMore) break;
    }
  const held = await waitForRest(world);
  const lost = await Promise.all(ACCOUNTS.map((account) => countWithoutEnd(world, account)));
  const orders = sandbox.arrivals.map(({ account, number }) => `${account} ${number}`);
  const books = await program.command('ledger', 'verify');
  if (books.code !== 0) throw new Error(`the ledger does not balance: ${books.err}`);
  return [
    { what: `${where}: accepted creates`, figure: ACCOUNTS.flatMap((account) => created[account]).length, unit: '' },
    { what: `${where}: cancelled at the end`, figure: cancelled, unit: '' },
    {
      what: `${where}: orders that the upstream got twice`,
      figure: orders.length - new Set(orders).size,
      unit: '',
      goal: '0',
    },
    { what: `${where}: tasks without an end`, figure: lost.reduce((sum, one) => sum + one), unit: '', goal: '0' },
    { what: `${where}: accounts whose money is held`, figure: held, unit: '', goal: '0' },
  ];
}

/** Waits until no account has money on hold. Returns the number of those that still have. */
async function waitForRest(world: World): Promise<number> {
  const deadline = performance.now() + REST_TIMEOUT_MS;
  for (;;) {
    const accounts = await Promise.all(ACCOUNTS.map((account) => readAccount(world.program, account)));
    const busy = accounts.filter(({ held }) => held !== '0').length;
    if (busy === 0 || performance.now() > deadline) return busy;
    await wait(1000);
  }
}

/** The accepted creates of an account that a read does not show as ended. */
async function countWithoutEnd(world: World, account: Account): Promise<number> {
  const caller = callAs(world, account);
  let without = 0;
  await inParallel(world.created[account], async (id) => {
    const { status, json } = await caller.call('GET', `/v1/videos/${id}`);
    if (status !== 200 || !['completed', 'failed'].includes((json as { readonly status: string }).status)) without += 1;
  });
  return without;
}

async function openWorld(
  shape: Shape,
  options: Partial<Parameters<typeof newProgram>[1]>,
  ends: (() => Promise<unknown>)[],
): Promise<World> {
  const sandbox = await startRecordedSandbox();
  ends.push(() => sandbox.stop());
  const program = await newProgram(shape, { upstream: sandbox.host, ...options }, (config) => {
    const [channel] = config.channels;
    const channels = (['wide', 'narrow'] as const).map((id) => ({
      ...channel!,
      id,
      limits: { requests_per_minute: PER_MINUTE[id], in_flight: IN_FLIGHT },
    }));
    const accounts = ACCOUNTS.map((id) => ({
      id,
      credit: '1000000.00',
      tokens: [{ key: readKey(id), models: ['*'] }],
    }));
    const tasks = { ...config.tasks, queue: { per_account: 2 * FLOOD } };
    const limits = { ...config.gateway.limits, creates_per_minute: 10 * FLOOD };
    return {
      ...config,
      gateway: { ...config.gateway, limits },
      tasks,
      channels,
      accounts: accounts as object as TestConfig['accounts'],
    };
  });
  await program.start();
  ends.push(() => program.end());
  return {
    program,
    sandbox,
    created: { flood: [], steady: [], bursts: [] },
    asked: { flood: [], steady: [], bursts: [] },
  };
}

function readKey(account: Account): string {
  return `sk-${account}-0123456789`;
}

function callAs({ program }: World, account: Account): HttpCaller {
  return httpCaller(program.base, readKey(account));
}

/** Makes creates of an account. One that is refused, or that has no answer, is sent again with its key. */
async function createMany(world: World, account: Account, count: number): Promise<void> {
  const { created, asked } = world;
  const caller = callAs(world, account);
  const first = asked[account].length;
  const numbers = Array.from({ length: count }, (_none, index) => first + index);
  asked[account].push(...numbers.map(() => 0));
  await inParallel(numbers, async (number) => {
    asked[account][number] = performance.now();
    const body = {
      model: 'Alpha-H3',
      content: [{ type: 'text', text: writePrompt(account, number, RUN_SECONDS) }],
      ...{ duration: 5, resolution: '768P', ratio: '16:9' },
    };
    const headers = { 'idempotency-key': `${account}-${number}` };
    for (let tries = 0; tries < CREATE_TRIES_MAX; tries += 1) {
      const answer = await caller.call('POST', '/v2/video_generation', body, headers).catch(() => undefined);
      if (answer?.status === 200) {
        created[account].push((answer.json as { readonly task_id: string }).task_id);
        return;
      }
      await wait(CREATE_AGAIN_MS);
    }
    throw new Error(`the create ${number} of ${account} was refused ${CREATE_TRIES_MAX} times`);
  });
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: Math.min(CREATES_AT_ONCE, items.length) }, async () => {
      for (const item of left) await work(item);
    }),
  );
}

/** Begins the work at each of its times, even if an earlier one still runs. */
async function every(ms: number, stop: AbortSignal, work: () => Promise<void>): Promise<void> {
  const running: Promise<void>[] = [];
  while (!stop.aborted) {
    running.push(work());
    await wait(ms, undefined, { signal: stop }).catch(() => undefined);
  }
  await Promise.all(running);
}

function listArrivals({ sandbox }: World, from: number, to: number): readonly Arrival[] {
  return sandbox.arrivals.filter(({ at }) => at >= from && at < to);
}

function describeCapacity(started: number, ms: number): Line {
  const figure = (100 * started) / ((PER_SECOND * ms) / 1000);
  return { what: 'capacity used while tasks wait', figure, unit: '%', goal: 'from 98 %' };
}

/** Runs a command that must succeed, and returns its answer. */
async function command({ program }: World, ...args: readonly string[]): Promise<unknown> {
  const { code, err, json } = await program.command(...args);
  if (code !== 0) throw new Error(`reelgate ${args.join(' ')} failed: ${err}`);
  return json;
}
