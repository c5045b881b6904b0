import path from 'node:path';
import { listHappened, openActs } from './acts.ts';
import type { SeedActs } from './acts.ts';
import { auditTasks } from './audit-tasks.ts';
import { runBatches } from './batches.ts';
import { runCallbacks } from './callbacks.ts';
import { runCalls } from './calls.ts';
import { ORDERS, runClients } from './clients.ts';
import { openDraws } from './draws.ts';
import { openEventLog } from './event-log.ts';
import type { EventLog } from './event-log.ts';
import { openFaults } from './faults.ts';
import type { Fault, Faults } from './faults.ts';
import { openMachine } from './machine.ts';
import type { Machine, SharedServers } from './machine.ts';
import { openOrders } from './orders.ts';
import { runOperators } from './operators.ts';
import { openReceivers } from './receivers.ts';
import type { Program } from './program.ts';
import { openRules } from './rules/rules.ts';
import type { BrokenRule, Rules } from './rules/rules.ts';
import { openScheduler } from './scheduler.ts';
import type { Scheduler } from './scheduler.ts';
import { startStream } from './streams.ts';
import { startTeam } from './team.ts';
import { openSimulatedBus } from './simulated-bus.ts';
import { openSimulatedServer } from './simulated-server.ts';
import { openSimulatedDisk } from './simulated-disk.ts';
import type { CrashKind } from './simulated-disk.ts';
import { simulatedBackends } from './simulated-backends.ts';
import { drawVariation, readSimulatedConfigs } from './simulated-config.ts';
import { LostAnswer } from './simulated-http.ts';
import { replaceNode } from './simulated-node.ts';
import { simulatedPools } from './simulated-pool.ts';
import { simulatedUpstreams } from './upstream-hosts.ts';
import { openUpstreamWorks } from './upstream-works.ts';
import type { World } from './world.ts';

const CRASHES_MAX = 8;
const CRASHES_WITHIN_MS = 60_000;
const AIMED_CRASHES = 0.03;
const AIMED_MS_MAX = 25;
const AIMED_MAX = 10;
/** Of the commits, this part is followed by a crash before or during its sync. */
const AIMED_COMMITS = 0.003;
const POWER_CUTS = 0.5;
/** The faults whose every place is a crash. */
const CRASH_FAULTS: readonly Fault[] = ['aimed crash', 'crash at start'];
/** Faults end after this time, so that every task can come to rest. */
const FAULTS_MS = 75_000;
const CHECK_MS = 15_000;
/** All tasks are at rest within this time after the end of the faults. It is shorter than the lease of a task. */
const REST_MS_MAX = 10 * 60_000;
/** Where a clock was set back, times that were written before lie in its future. */
const REST_AFTER_JUMPS_MS_MAX = 30 * 60_000;
/** A process whose disk has failed is started again within this time. */
const NOTICED_MS_MAX = 5000;
const LOST_PAGES = 0.5;
const SHARED = 0.2;
const REPLICAS_MAX = 3;
const FREEZES_MAX = 3;
/** A process that stands still for more than ten heartbeats is taken for dead. */
const FROZEN_MS = { least: 500, most: 40_000 };
const JUMPS_MAX = 3;
const JUMP_MS_MAX = 20 * 60_000;
const AWAYS_MAX = 2;

/** Lines of the product's log that follow a durable step: a death soon after them is the most telling. */
const AIMS: ReadonlySet<string> = new Set([
  'a task was created',
  'a hold was placed',
  'an attempt was started',
  'an attempt was accepted',
  'an attempt was not accepted',
  'a task waits for a channel',
  'a task has its turn',
  'a task returned to its place in the queue',
  'a create was refused',
  'a task moved',
  'a task ended',
  'a hold was settled',
  'a hold was released',
  'a task was settled',
  'a result was stored',
  'a call was settled',
]);

export interface SeedOptions {
  readonly seed: number;
  readonly stepsMax: number;
  /** The product that its processes run. */
  readonly program: Program;
  /**
   * The names of the faults, crashes, orders, calls and acts that the run does without. Everything else stays as the
   * seed drew it.
   */
  readonly without?: ReadonlySet<string>;
}

/** The outcome of the run of a seed. */
export interface SeedResult extends SeedActs {
  readonly seed: number;
  readonly faults: readonly Fault[];
  readonly broken: BrokenRule | undefined;
  readonly tasks: number;
  readonly waiting: number;
  /** The orders that a client was given a task for. */
  readonly accepted: number;
  readonly works: number;
  readonly crashes: number;
  /** The names of the crashes that were drawn. */
  readonly crashNames: readonly string[];
  readonly steps: number;
  readonly virtualMs: number;
  readonly events: EventLog;
}

/** Runs one seed to its end, to its first broken rule, or for a number of steps. One after another in a process. */
export async function runSeed({ seed, stepsMax, program, without }: SeedOptions): Promise<SeedResult> {
  const draws = openDraws(seed);
  const faults = openFaults(draws, without);
  const scheduler = openScheduler({ draws, hasLateTimers: faults.isOn('late timers') });
  if (faults.isOn('late timers')) faults.note('late timers', 'timers');
  const events = openEventLog(scheduler.begin);
  const note = (process: string) => (text: string) => {
    events.write(scheduler.now(), process, text);
  };
  const crashSoon = (ms: number, kind: CrashKind): void => {
    scheduler.after(ms, scheduler.world, () => {
      machine.crash(kind);
    });
  };
  const variation = drawVariation(draws);
  let failedSyncs = 0;
  const disk = openSimulatedDisk({
    ...{ scheduler, draws, faults },
    log: note('disk'),
    onCommit: () => {
      aim('commit', AIMED_COMMITS);
    },
    onFailedSync: () => {
      failedSyncs += 1;
      const name = `disk failed sync ${failedSyncs}`;
      // the system may drop the pages that it could not write
      const kind = draws.happens(`${name} loses pages`, LOST_PAGES) ? 'power cut' : 'kill';
      crashSoon(draws.whole(name, 1, NOTICED_MS_MAX), kind);
    },
    crashNow: (kind) => {
      crashSoon(0, kind);
    },
  });
  const shared = await openShared(
    { scheduler, draws, faults },
    { root: disk.root, log: note('server'), variation, program },
  );
  const acts = openActs();
  const orders = openOrders(scheduler.now, acts);
  const rules = openRules({
    folder: shared === undefined ? disk.folder : () => shared.server.folder,
    ...{ now: scheduler.now, orders, acts, hasReplicas: shared !== undefined },
  });
  const works = openUpstreamWorks({
    ...{ scheduler, draws, faults },
    onAccepted: (work) => {
      rules.accepted(work, works.all());
      runCallbacks(world, work, works.all());
      aim('work', AIMED_CRASHES);
    },
  });
  const aim = aimCrashes({ scheduler, faults, crashSoon, drawKind: (name) => drawCrash(draws, faults, name), draws });
  replaceNode({ scheduler, random: draws.bytes('node') });
  const onRejection = (reason: unknown): void => {
    rules.break('no promise is rejected unheard', reason instanceof Error ? (reason.stack ?? '') : String(reason));
  };
  process.on('unhandledRejection', onRejection);
  const machine: Machine = openMachine({
    ...{ scheduler, draws, faults, disk, events, shared },
    openPool: simulatedPools({
      ...{ scheduler, draws, faults },
      log: note('network'),
      hosts: simulatedUpstreams({ works, faults, onCall: rules.called }),
    }),
    backends: simulatedBackends({
      ...{ scheduler, draws, faults },
      receivers: openReceivers({
        ...{ scheduler, draws, faults },
        log: note('receiver'),
        onDelivery: (delivery) => {
          rules.delivered(delivery);
        },
      }),
      onKept: () => {
        aim('result', AIMED_CRASHES);
      },
    }),
    program,
    readConfigs: (reloads) => readSimulatedConfigs(program, variation, reloads),
    onReload: orders.reloaded,
    onLine: (message) => {
      if (AIMS.has(message)) aim('line', AIMED_CRASHES);
    },
  });
  const outside = { scheduler, draws, faults, machine, events, rules, orders, acts, variation };
  const world: World = { ...outside, team: startTeam(outside) };
  planDisturbances(world, shared);
  const planned = planCrashes({
    scheduler,
    faults,
    crashSoon,
    drawKind: (name) => drawCrash(draws, faults, name),
    draws,
  });
  let isOver = false;
  machine.start();
  const running = runWorld(world, works).then(
    () => {
      isOver = true;
    },
    (error: unknown) => {
      rules.break('the simulation itself runs', error instanceof Error ? (error.stack ?? '') : String(error));
    },
  );
  try {
    await scheduler.run(() => isOver || rules.broken() !== undefined || scheduler.steps() >= stepsMax);
  } catch (error) {
    rules.break('the program goes on', String(error));
  }
  if (isOver) await running;
  const counts = machine.isUp() ? rules.count() : { tasks: 0, waiting: 0 };
  process.off('unhandledRejection', onRejection);
  rules.close();
  shared?.server.close();
  disk.remove();
  return {
    ...{ seed, events, faults: faults.listOn(), broken: rules.broken(), crashes: machine.crashes() },
    crashNames: [...planned, ...CRASH_FAULTS.flatMap((fault) => faults.listPlaces(fault))],
    ...counts,
    acts: acts.counts(),
    accepted: new Set(
      rules
        .list()
        .map(({ order }) => order)
        .filter((order) => ORDERS.includes(order)),
    ).size,
    happened: listHappened(faults),
    works: works.all().length,
    steps: scheduler.steps(),
    virtualMs: scheduler.now() - scheduler.begin,
  };
}

/** In some seeds, several processes share a database server and a bus. */
async function openShared(
  parts: Pick<World, 'scheduler' | 'draws' | 'faults'>,
  {
    root,
    log,
    variation,
    program,
  }: Pick<SeedOptions, 'program'> & {
    readonly root: string;
    readonly log: (text: string) => void;
    readonly variation: ReturnType<typeof drawVariation>;
  },
): Promise<SharedServers | undefined> {
  const { draws } = parts;
  if (!draws.happens('machine shared', SHARED)) return undefined;
  const server = openSimulatedServer({ ...parts, log, folder: path.join(root, 'server') });
  const { tasks, billing, media } = readSimulatedConfigs(program, variation, 0);
  for (const { store } of [tasks, billing, media]) await server.prepare(store);
  return { server, bus: openSimulatedBus(parts), replicas: draws.whole('machine replicas', 1, REPLICAS_MAX) };
}

/** Processes that stand still for a while, clocks that are set, and a server that is away. */
function planDisturbances({ scheduler, draws, faults, machine }: World, shared: SharedServers | undefined): void {
  const plan = (fault: Fault, most: number, act: (name: string) => void): void => {
    if (!faults.isOn(fault)) return;
    const times = draws.whole(`${fault} times`, 1, most);
    for (let time = 1; time <= times; time += 1) {
      const name = `${fault} ${time}`;
      scheduler.after(draws.whole(`${name} at`, 0, CRASHES_WITHIN_MS), scheduler.world, () => {
        faults.note(fault, name);
        act(name);
      });
    }
  };
  plan('frozen process', FREEZES_MAX, (name) => {
    machine.disturb((process) => {
      const ms = draws.whole(`${name} ms`, FROZEN_MS.least, FROZEN_MS.most);
      process.frozenUntil = scheduler.now() + ms;
      return `${process.name} stands still for ${ms} ms`;
    });
  });
  plan('clock jump', JUMPS_MAX, (name) => {
    machine.disturb((process) => {
      process.skewMs = draws.whole(`${name} ms`, -JUMP_MS_MAX, JUMP_MS_MAX);
      return `the clock of ${process.name} is set to ${process.skewMs} ms`;
    });
  });
  if (shared !== undefined)
    plan('server away', AWAYS_MAX, () => {
      shared.server.goAway();
    });
}

interface CrashPlan {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly draws: ReturnType<typeof openDraws>;
  readonly crashSoon: (ms: number, kind: CrashKind) => void;
  readonly drawKind: (name: string) => CrashKind;
}

function drawCrash(draws: ReturnType<typeof openDraws>, faults: Faults, name: string): CrashKind {
  if (!faults.isOn('power cut') || !draws.happens(`${name} kind`, POWER_CUTS)) return 'kill';
  faults.note('power cut', name);
  return 'power cut';
}

/** Some crashes at random moments. Returns their names. */
function planCrashes({ faults, draws, crashSoon, drawKind }: CrashPlan): readonly string[] {
  if (!faults.isOn('crash')) return [];
  const names = Array.from({ length: draws.whole('crashes', 1, CRASHES_MAX) }, (_none, at) => `crash ${at + 1}`);
  const planned = names.filter((name) => !faults.isLeftOut(name));
  for (const name of planned) {
    faults.note('crash', name);
    crashSoon(draws.whole(name, 0, CRASHES_WITHIN_MS), drawKind(name));
  }
  return planned;
}

/** Returns a function that is called after each step of a kind, and now and then begins a crash. */
function aimCrashes({ faults, draws, crashSoon, drawKind }: CrashPlan): (kind: string, probability: number) => void {
  const aims = new Map<string, number>();
  let begun = 0;
  return (kind, probability) => {
    const aimed = (aims.get(kind) ?? 0) + 1;
    aims.set(kind, aimed);
    const name = `aim at ${kind} ${aimed}`;
    if (begun >= AIMED_MAX || !faults.happens('aimed crash', name, probability)) return;
    begun += 1;
    crashSoon(draws.whole(`${name} after`, 0, AIMED_MS_MAX), drawKind(name));
  };
}

/** The clients, the end of the faults, the rest of all tasks, and the last checks. */
async function runWorld(world: World, works: ReturnType<typeof openUpstreamWorks>): Promise<void> {
  const { scheduler, faults, machine, events, rules } = world;
  scheduler.after(FAULTS_MS, scheduler.world, () => {
    events.write(scheduler.now(), 'world', 'the faults end');
    faults.end();
  });
  const restMsMax = faults.listOn().includes('clock jump') ? REST_AFTER_JUMPS_MS_MAX : REST_MS_MAX;
  const check = (): void => {
    if (machine.isUp()) rules.checkMoment();
    const since = scheduler.now() - restMsMax;
    if (machine.isUp() && since > scheduler.begin + FAULTS_MS) rules.checkRest(since);
    scheduler.after(CHECK_MS, scheduler.world, check);
  };
  check();
  const stream = startStream(world);
  await Promise.all([runClients(world), runCalls(world), runBatches(world), runOperators(world)]);
  const isHealthy = (): boolean => scheduler.now() >= scheduler.begin + FAULTS_MS || faults.isCalm;
  const waitForRest = async (): Promise<void> => {
    const until = Math.max(scheduler.now(), scheduler.begin + FAULTS_MS) + restMsMax;
    while (!(isHealthy() && machine.isUp() && rules.isAtRest(faults.isCalm)) && scheduler.now() < until)
      await scheduler.pause(1000);
  };
  await waitForRest();
  if (!machine.isUp()) {
    rules.break('the program starts again', 'it is down after the end of the faults');
    return;
  }
  await stream.finish();
  await auditTasks(world);
  // a task that waits for a person can end meanwhile
  await waitForRest();
  rules.checkMoment();
  rules.checkEnd(works, faults.isCalm);
  await checkLedger(machine, rules);
}

/** The product's own check of its ledger. */
async function checkLedger(machine: Machine, rules: Rules): Promise<void> {
  try {
    const { ok, faults } = await machine.call(({ accounts }) => accounts.verifyLedger({ actor: 'simulation' }));
    if (!ok) rules.break('the ledger verifies', faults.join('; '));
  } catch (error) {
    if (error instanceof LostAnswer) rules.break('the program stays up', 'it died during the last check');
    throw error;
  }
}
