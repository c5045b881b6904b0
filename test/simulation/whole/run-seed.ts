import path from 'node:path';
import { listHappened, openActs } from './acts.ts';
import type { SeedActs } from './acts.ts';
import { runCallbacks } from './callbacks.ts';
import { ORDERS } from './clients.ts';
import { openCrashes } from './crashes.ts';
import { planDisturbances } from './disturbances.ts';
import { openDraws } from './draws.ts';
import { openEventLog } from './event-log.ts';
import type { EventLog } from './event-log.ts';
import { openFaults } from './faults.ts';
import type { Fault } from './faults.ts';
import { openMachine } from './machine.ts';
import type { Machine, SharedServers } from './machine.ts';
import { openOrders } from './orders.ts';
import { openRelayedCalls } from './relayed-calls.ts';
import { openReceivers } from './receivers.ts';
import type { Program } from './program.ts';
import { openRules } from './rules/rules.ts';
import type { BrokenRule } from './rules/rules.ts';
import { runWorld } from './run-world.ts';
import { openScheduler } from './scheduler.ts';
import { openSubjects } from './subjects.ts';
import type { Subjects } from './subjects.ts';
import { startTeam } from './team.ts';
import { openSimulatedBus } from './simulated-bus.ts';
import { openSimulatedServer } from './simulated-server.ts';
import { openSimulatedDisk } from './simulated-disk.ts';
import { simulatedBackends } from './simulated-backends.ts';
import { drawVariation, readSimulatedConfigs } from './simulated-config.ts';
import { replaceNode } from './simulated-node.ts';
import { simulatedPools } from './simulated-pool.ts';
import { simulatedUpstreams } from './upstream-hosts.ts';
import { openUpstreamWorks } from './upstream-works.ts';
import type { World } from './world.ts';

const SHARED = 0.2;
const REPLICAS_MAX = 3;

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
  /** From this step on, the rules that hold at every moment are checked after each step. Undefined if they are not. */
  readonly checkFrom?: number;
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
  /** The step of the last check of the rules that hold at every moment, if they held. */
  readonly checkedAt: number;
  readonly virtualMs: number;
  readonly events: EventLog;
  /** The messages of the log of the product. */
  readonly messages: ReadonlySet<string>;
}

/** Runs one seed to its end, to its first broken rule, or for a number of steps. One after another in a process. */
export async function runSeed({
  seed,
  stepsMax,
  program,
  without,
  checkFrom = Infinity,
}: SeedOptions): Promise<SeedResult> {
  const draws = openDraws(seed);
  const faults = openFaults(draws, without);
  const scheduler = openScheduler({ draws, hasLateTimers: faults.isOn('late timers') });
  if (faults.isOn('late timers')) faults.note('late timers', 'timers');
  const events = openEventLog(scheduler.begin);
  const note = (process: string) => (text: string) => {
    events.write(scheduler.now(), process, text);
  };
  const subjects = openSubjects();
  const crashes = openCrashes({
    ...{ scheduler, draws, faults },
    crash: (kind, name) => {
      machine.crash(kind, name);
    },
  });
  const variation = drawVariation(draws);
  const disk = openSimulatedDisk({
    ...{ scheduler, draws, faults },
    log: note('disk'),
    onCommit: () => {
      crashes.afterStep('commit');
    },
    onFailedSync: crashes.afterFailedSync,
    crashNow: crashes.now,
  });
  const shared = await openShared(
    { scheduler, draws, faults },
    { root: disk.root, log: note('server'), variation, program, subjects },
  );
  const acts = openActs();
  const messages = new Set<string>();
  const orders = openOrders(scheduler.now);
  const relayed = openRelayedCalls(draws, (name) => {
    rules.called(name);
  });
  const rules = openRules({
    folder: shared === undefined ? disk.folder : () => shared.server.folder,
    ...{ now: scheduler.now, orders, acts, relayed, hasReplicas: shared !== undefined },
    areAllAlive: () => machine.crashes() === 0,
  });
  const works = openUpstreamWorks({
    ...{ scheduler, draws, faults },
    onAccepted: (work) => {
      rules.accepted(work, works.all());
      runCallbacks(world, work, works.all());
      crashes.afterStep('work');
    },
  });
  replaceNode({ scheduler, random: draws.bytes(() => scheduler.nameChoice('bytes of Node')) });
  const onRejection = (reason: unknown): void => {
    rules.break('no promise is rejected unheard', reason instanceof Error ? (reason.stack ?? '') : String(reason));
  };
  process.on('unhandledRejection', onRejection);
  const machine: Machine = openMachine({
    ...{ scheduler, draws, faults, disk, events, shared },
    openPool: simulatedPools({
      ...{ scheduler, draws, faults },
      log: note('network'),
      hosts: simulatedUpstreams({ works, faults, relayed }),
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
        crashes.afterStep('result');
      },
    }),
    program,
    readConfigs: (reloads) => readSimulatedConfigs(program, variation, reloads),
    onReload: orders.reloaded,
    onLine: (message, fields) => {
      subjects.learn(message, fields);
      crashes.afterLine(message);
    },
    onMessage: (message) => {
      messages.add(message);
    },
  });
  const outside = { scheduler, draws, faults, machine, events, rules, orders, acts, variation };
  const world: World = { ...outside, team: startTeam(outside) };
  planDisturbances(world, shared);
  crashes.plan();
  let isOver = false;
  machine.start();
  let checkedAt = 0;
  const onHeld = (): void => {
    checkedAt = scheduler.steps();
  };
  const running = runWorld(world, works, onHeld).then(
    () => {
      isOver = true;
    },
    (error: unknown) => {
      rules.break('the simulation itself runs', error instanceof Error ? (error.stack ?? '') : String(error));
    },
  );
  try {
    await scheduler.run(() => {
      if (scheduler.steps() >= checkFrom && machine.isUp()) rules.checkMoment();
      return isOver || rules.broken() !== undefined || scheduler.steps() >= stepsMax;
    });
  } catch (error) {
    rules.break('the program goes on', String(error));
  }
  if (isOver) await running;
  // a run that ends at the step that broke a rule shows it, although no check was due
  if (!isOver && machine.isUp()) rules.checkMoment();
  const counts = machine.isUp() ? rules.count() : { tasks: 0, waiting: 0 };
  process.off('unhandledRejection', onRejection);
  rules.close();
  shared?.server.close();
  disk.remove();
  return {
    ...{ seed, events, faults: faults.listOn(), broken: rules.broken(), crashes: machine.crashes() },
    crashNames: crashes.listNames(),
    ...counts,
    ...{ acts: acts.counts(), messages },
    accepted: new Set(
      rules
        .list()
        .map(({ order }) => order)
        .filter((order) => ORDERS.includes(order)),
    ).size,
    happened: listHappened(faults),
    works: works.all().length,
    ...{ steps: scheduler.steps(), checkedAt },
    virtualMs: scheduler.now() - scheduler.begin - machine.offMs(),
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
    subjects,
  }: Pick<SeedOptions, 'program'> & {
    readonly root: string;
    readonly log: (text: string) => void;
    readonly variation: ReturnType<typeof drawVariation>;
    readonly subjects: Subjects;
  },
): Promise<SharedServers | undefined> {
  const { draws } = parts;
  if (!draws.happens('machine shared', SHARED)) return undefined;
  const server = openSimulatedServer({ ...parts, log, folder: path.join(root, 'server') });
  const { tasks, billing, media } = readSimulatedConfigs(program, variation, 0);
  for (const { store } of [tasks, billing, media]) await server.prepare(store);
  const bus = openSimulatedBus({
    ...parts,
    nameSubject: (bytes) => subjects.name(Buffer.from(bytes).toString('latin1')),
  });
  return { server, bus, replicas: draws.whole('machine replicas', 1, REPLICAS_MAX) };
}
