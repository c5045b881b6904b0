import { pollInterval } from '@reelgate/tasks/domain/poll-interval';
import type { PollPlan } from '@reelgate/tasks/domain/poll-interval';
import { seeded } from '../harness/seeded.ts';
import { quantile } from './load.ts';
import type { Line } from './table.ts';

const TASKS = Number(process.env['REELGATE_BENCH_TASKS'] ?? 1_000_000);
/** A video takes this long on average. The times are spread exponentially, so tasks of every age are in flight. */
const WORK_MS = 5 * 60_000;
/** The longest age of a task at the beginning of the simulation. */
const AGE_MS_MAX = 4 * WORK_MS;
const WARM_UP_MS_MIN = 60_000;
const MEASURED_MS = 60_000;
const STEP_MS = 100;
/** Where the polls are bounded, every task is polled about this often before the measurement. */
const ROUNDS = 3;
/** Tasks of one channel that one process polls at once (`PARALLEL_MAX` in `poll-channel.ts`). */
const PARALLEL = 64;

interface Scenario {
  readonly what: string;
  readonly plan: PollPlan;
  /** Polls a second that channels, replicas and the database carry together. */
  readonly pollsPerSecond: number;
  /** The share of ends that an upstream announces by a callback. */
  readonly calledBack: number;
}

const DEFAULT_PLAN: PollPlan = { firstMs: 3000, factor: 1.5, maxMs: 15_000 };
const LONG_PLAN: PollPlan = { firstMs: 15_000, factor: 2, maxMs: 300_000 };
/** What `replicas` processes carry over `channels` channels whose upstream answers a poll after `answerMs`. */
const carried = (replicas: number, channels: number, answerMs: number): number =>
  (replicas * channels * PARALLEL * 1000) / answerMs;

const SCENARIOS: readonly Scenario[] = [
  { what: 'poll.max 15s, no bound', plan: DEFAULT_PLAN, pollsPerSecond: Number.POSITIVE_INFINITY, calledBack: 0 },
  {
    what: 'poll.max 15s, 4 replicas, 10 channels, polls of 100 ms',
    plan: DEFAULT_PLAN,
    pollsPerSecond: carried(4, 10, 100),
    calledBack: 0,
  },
  {
    what: 'poll.max 15s, 10 channels of 6,000 polls a minute',
    plan: DEFAULT_PLAN,
    pollsPerSecond: (10 * 6000) / 60,
    calledBack: 0,
  },
  { what: 'poll.max 5m, no bound', plan: LONG_PLAN, pollsPerSecond: Number.POSITIVE_INFINITY, calledBack: 0 },
  { what: 'poll.max 5m, 10,000 polls a second', plan: LONG_PLAN, pollsPerSecond: 10_000, calledBack: 0 },
  {
    what: 'poll.max 5m, 10,000 polls a second, 99.9 % callbacks',
    plan: LONG_PLAN,
    pollsPerSecond: 10_000,
    calledBack: 0.999,
  },
];

/**
 * The lag of the pollers with a million tasks in flight, in simulated time. The intervals are those of the product;
 * the upstream, the database and the processes are one number of polls a second.
 */
export async function pollerSimulation(): Promise<readonly Line[]> {
  return SCENARIOS.flatMap((scenario) => {
    const { polls, lags } = simulate(scenario);
    const of = `${TASKS} in flight, ${scenario.what}`;
    return [
      { what: `${of}: polls`, figure: polls / (MEASURED_MS / 1000), unit: '/s' },
      { what: `${of}: lag to visible, p50`, figure: quantile(lags, 0.5) / 1000, unit: 's' },
      { what: `${of}: lag to visible, p99`, figure: quantile(lags, 0.99) / 1000, unit: 's' },
    ];
  });
}

interface Outcome {
  /** Polls within the measured time. */
  readonly polls: number;
  /** Milliseconds from an end at the upstream to the poll that sees it, for each end seen in the measured time. */
  readonly lags: readonly number[];
}

function simulate(scenario: Scenario): Outcome {
  const outcome = { polls: 0, lags: [] as number[] };
  const tasks = simulatedTasks(scenario, (lagMs) => outcome.lags.push(lagMs));
  const warmUpMs = Math.max(WARM_UP_MS_MIN, (ROUNDS * TASKS * 1000) / scenario.pollsPerSecond);
  for (let now = STEP_MS; now < warmUpMs; now += STEP_MS) tasks.poll(now);
  outcome.lags.length = 0;
  for (let now = warmUpMs; now < warmUpMs + MEASURED_MS; now += STEP_MS) outcome.polls += tasks.poll(now);
  return outcome;
}

interface SimulatedTasks {
  /** Polls what is due, as far as the bound allows. Returns how many polls there were. */
  poll(now: number): number;
}

/** Tasks in flight. When the end of one has been seen, a new one begins. */
function simulatedTasks(
  { plan, pollsPerSecond, calledBack }: Scenario,
  onEnd: (lagMs: number) => void,
): SimulatedTasks {
  const { chance } = seeded(1);
  const [created, ends, plannedAt] = [new Float64Array(TASKS), new Float64Array(TASKS), new Float64Array(TASKS)];
  const [planned, called] = [openDueTimes(), openDueTimes()];
  const workTime = (): number => -WORK_MS * Math.log(1 - chance());
  const planNext = (task: number, at: number): void => {
    plannedAt[task] = at;
    planned.add(task, at);
  };
  const begin = (task: number, createdAt: number, now: number): void => {
    const end = now + workTime();
    created[task] = createdAt;
    ends[task] = end;
    if (chance() < calledBack) called.add(task, end);
    // A task of some age is anywhere between two polls.
    const interval = pollInterval(plan, now - createdAt, chance());
    planNext(task, now + (createdAt < now ? chance() : 1) * interval);
  };
  for (let task = 0; task < TASKS; task += 1) begin(task, -Math.min(AGE_MS_MAX, workTime()), 0);

  const pollOne = (task: number, now: number): void => {
    if (ends[task]! > now) planNext(task, now + pollInterval(plan, now - created[task]!, chance()));
    else {
      onEnd(now - ends[task]!);
      begin(task, now, now);
    }
  };
  /** A callback puts a task before all others. Its planned poll is then out of date. */
  const takeDue = (now: number): number | undefined => {
    let task = called.take();
    while (task === undefined) {
      const next = planned.take();
      if (next === undefined) return undefined;
      if (plannedAt[next]! <= now) task = next;
    }
    return task;
  };
  return {
    poll: (now) => {
      planned.advance(now);
      called.advance(now);
      let polls = 0;
      const most = (pollsPerSecond * STEP_MS) / 1000;
      for (let task = takeDue(now); task !== undefined; task = polls < most ? takeDue(now) : undefined) {
        pollOne(task, now);
        polls += 1;
      }
      return polls;
    },
  };
}

interface DueTimes {
  add(task: number, at: number): void;
  /** Makes every task due that was added for a time up to `now`. */
  advance(now: number): void;
  /** The task that has been due for the longest time. */
  take(): number | undefined;
}

/** Due times in steps of the simulation. */
function openDueTimes(): DueTimes {
  const later = new Map<number, number[]>();
  let [due, taken, step]: [number[], number, number] = [[], 0, 0];
  return {
    add: (task, at) => {
      const of = Math.max(step + 1, Math.ceil(at / STEP_MS));
      const tasks = later.get(of);
      if (tasks === undefined) later.set(of, [task]);
      else tasks.push(task);
    },
    advance: (now) => {
      if (taken * 2 > due.length) [due, taken] = [due.slice(taken), 0];
      for (; step < now / STEP_MS; step += 1) {
        for (const task of later.get(step + 1) ?? []) due.push(task);
        later.delete(step + 1);
      }
    },
    take: () => due[taken++],
  };
}
