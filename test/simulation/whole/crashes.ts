import type { Draws } from './draws.ts';
import type { Fault, Faults } from './faults.ts';
import type { Scheduler } from './scheduler.ts';
import type { CrashKind } from './simulated-disk.ts';

/** Crashes and disturbances are planned within this time. */
export const CRASHES_WITHIN_MS = 60_000;
const CRASHES_MAX = 8;
/** With these shares, a seed whose aimed crashes are on has about ten of them. */
const AIMED_CRASHES = 0.018;
const AIMED_COMMITS = 0.01;
const AIM_AT_COMMIT = 'aim at commit';
/** Of the commits of one window, only the first one counts. */
const WINDOW_MS = 100;
/** Far more than most seeds have: where the bound is reached, a crash that is left out lets another one happen. */
const AIMED_MAX = 25;
const AIMED_MS_MAX = 25;
const POWER_CUTS = 0.5;
/** A process whose disk has failed is started again within this time. */
const NOTICED_MS_MAX = 5000;
const LOST_PAGES = 0.5;
/** The faults whose every place is a crash. */
const CRASH_FAULTS: readonly Fault[] = ['aimed crash', 'crash at start'];

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

/** The crashes of a run. Each has a name, which `--without` takes. */
export interface Crashes {
  /** Plans the crashes at random moments. */
  plan(): void;
  /** A durable step has ended: now and then a crash follows it. */
  afterStep(step: 'work' | 'result' | 'commit'): void;
  /** The product has written a line of its log. */
  afterLine(message: string): void;
  /** The sync of this name has failed: the process is of no use from then on. */
  afterFailedSync(name: string): void;
  /** The process dies before the next moment. */
  now(kind: CrashKind, name: string): void;
  /** The names of the crashes that were drawn so far. */
  listNames(): readonly string[];
}

export interface CrashesOptions {
  readonly scheduler: Scheduler;
  readonly draws: Draws;
  readonly faults: Faults;
  readonly crash: (kind: CrashKind, name: string) => void;
}

export function openCrashes({ scheduler, draws, faults, crash }: CrashesOptions): Crashes {
  const planned: string[] = [];
  let aimed = 0;
  const crashAfter = (ms: number, kind: CrashKind, name: string): void => {
    scheduler.after(ms, scheduler.world, () => {
      crash(kind, name);
    });
  };
  const drawKind = (name: string): CrashKind => {
    if (!faults.isOn('power cut') || !draws.happens(`${name} kind`, POWER_CUTS)) return 'kill';
    faults.note('power cut', name);
    return 'power cut';
  };
  const aim = (step: string, probability: number): void => {
    if (aimed >= AIMED_MAX || !faults.isOn('aimed crash')) return;
    const name =
      step === 'commit' ? scheduler.nameFirst(AIM_AT_COMMIT, WINDOW_MS) : scheduler.nameChoice(`aim at ${step}`);
    if (name === undefined || !faults.happens('aimed crash', name, probability)) return;
    aimed += 1;
    crashAfter(draws.whole(`${name} after`, 0, AIMED_MS_MAX), drawKind(name), name);
  };
  return {
    plan: () => {
      if (!faults.isOn('crash')) return;
      const names = Array.from({ length: draws.whole('crashes', 1, CRASHES_MAX) }, (_none, at) => `crash ${at + 1}`);
      planned.push(...names.filter((name) => !faults.isLeftOut(name)));
      for (const name of planned) {
        faults.note('crash', name);
        crashAfter(draws.whole(name, 0, CRASHES_WITHIN_MS), drawKind(name), name);
      }
    },
    // a commit is followed by a crash before or during its sync
    afterStep: (step) => {
      aim(step, step === 'commit' ? AIMED_COMMITS : AIMED_CRASHES);
    },
    afterLine: (message) => {
      if (AIMS.has(message)) aim('line', AIMED_CRASHES);
    },
    afterFailedSync: (name) => {
      // the system may drop the pages that it could not write
      const kind = draws.happens(`${name} loses pages`, LOST_PAGES) ? 'power cut' : 'kill';
      crashAfter(draws.whole(`${name} is noticed`, 1, NOTICED_MS_MAX), kind, name);
    },
    now: (kind, name) => {
      crashAfter(0, kind, name);
    },
    listNames: () => [...planned, ...CRASH_FAULTS.flatMap((fault) => faults.listPlaces(fault))],
  };
}
