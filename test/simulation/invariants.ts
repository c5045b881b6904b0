import { expect, test } from '@jest/globals';
import { OPEN_MS } from '@reelgate/platform/limits/circuit-breaker';
import { httpCaller } from '../harness/client.ts';
import type { Program } from '../harness/program.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { CHANNEL, KEYS, UPSTREAM_KEY, UPSTREAM_MODEL } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { cents, costOf, markOf, untilSettled, upstreamIdOf } from './books.ts';
import { insist } from './load.ts';
import type { Load } from './load.ts';
import { formatAmount, readAccount } from '../harness/records.ts';
import type { ShownTask } from '../harness/records.ts';

const CREDIT = '100000.00';
const SETTLED_TIMEOUT_MS = 90_000;
const TIMEOUT_MS = 120_000;
const REPLAYED_MAX = 40;
const READS_MAX = 20;
/** The time that a task waits for a channel, unless a test needs more. */
const LONGEST_WAIT_MS = OPEN_MS + 5000;
const SECOND_CHANNEL = 'second-channel-of-the-test';

/** A load that has ended, after all disturbances. */
export interface Simulated {
  readonly upstream: ScriptedUpstream;
  readonly program: Program;
  readonly load: Load;
  /** The tasks after the end. */
  readonly tasks: readonly ShownTask[];
  readonly ordersMin: number;
}

/**
 * Enough money, two channels of one upstream account, and no long wait for a missing answer. Tasks wait for longer than
 * a circuit is open, so that most orders reach the upstream.
 */
export function forSimulation(config: TestConfig, longestWait = `${LONGEST_WAIT_MS}ms`): TestConfig {
  const [channel] = config.channels;
  const first = { ...channel!, timeouts: { submit: '3s', poll: '1s' } };
  return {
    ...config,
    tasks: {
      ...config.tasks,
      in_flight: { per_token: 100_000, total: 100_000 },
      queue: { longest_wait: { standard: longestWait } },
    },
    channels: [first, Object.assign({ ...first, id: SECOND_CHANNEL }, { priority: -1 })],
    accounts: config.accounts.map((account) => (account.id === 'demo' ? { ...account, credit: CREDIT } : account)),
  };
}

/** Tasks wait for longer than processes are away and a circuit is open after that. */
export function forKills(config: TestConfig): TestConfig {
  return forSimulation(config, '60s');
}

/** A task that no channel took in time ends without a work. */
const hasWaitedInVain = ({ failure }: ShownTask): boolean => failure?.code === 'queue_timeout';
const settledSum = (tasks: readonly ShownTask[]): number =>
  tasks.reduce((sum, { settlement }) => sum + cents(formatAmount(settlement?.amountNanos)), 0);
export const accountOf = (program: Program) => readAccount(program, 'demo');

/** The tasks and the account at one moment, although an unknown outcome may be found and settled between the reads. */
async function settledMoment(
  program: Program,
): Promise<{ now: readonly ShownTask[]; account: { balance: string; held: string } }> {
  for (let reads = 1; ; reads += 1) {
    const before = await accountOf(program);
    const now = await untilSettled(program, 'demo', SETTLED_TIMEOUT_MS);
    const account = await accountOf(program);
    if (account.balance === before.balance && account.held === before.held) return { now, account };
    if (reads >= READS_MAX) throw new Error(`the account does not come to rest: ${JSON.stringify([before, account])}`);
  }
}

/** Prints the figures of the load. */
export function report({ load, upstream, tasks }: Simulated): void {
  const adopted = tasks.filter(({ events }) => events.some(({ type }) => type === 'adopted'));
  const refused = load.told.filter(({ taskId }) => taskId === undefined);
  const unknown = tasks.filter(({ admission }) => admission === 'unknown');
  console.log(
    `orders ${load.told.length}, taken ${upstream.works.length}, refused ${refused.length}, ` +
      `unknown ${unknown.length}, found ${adopted.length}`,
  );
}

/** The invariants of a load, judged by the counts of an upstream that knows nothing of the program. */
export function invariantsHold(simulated: () => Simulated): void {
  test('the load has hundreds of orders, and the upstream accepted most of them', () => {
    const { upstream, load, ordersMin } = simulated();
    expect(load.told.length).toBeGreaterThanOrEqual(ordersMin);
    expect(upstream.works.length).toBeGreaterThan(load.told.length / 2);
  });

  test('the upstream accepted no order twice', () => {
    const { upstream } = simulated();
    const marks = upstream.works.map(({ mark }) => mark);
    expect(marks.filter((mark, at) => marks.indexOf(mark) !== at)).toEqual([]);
  });

  test('every accepted submission belongs to the task of its order, or to a task with an unknown outcome', () => {
    const { upstream, tasks } = simulated();
    const byUpstreamId = Map.groupBy(tasks, upstreamIdOf);
    const byMark = Map.groupBy(tasks, markOf);
    const astray = upstream.works.filter(({ id, mark }) => {
      const owners = byUpstreamId.get(id) ?? [];
      const [owner] = owners;
      if (owner !== undefined) return owners.length > 1 || markOf(owner) !== mark;
      const [orderer, ...more] = byMark.get(mark) ?? [];
      return orderer?.admission !== 'unknown' || more.length > 0;
    });
    expect(astray).toEqual([]);
  });

  test('every task comes from one order and has the outcome of its upstream task', () => {
    const { upstream, tasks } = simulated();
    const works = new Map(upstream.works.map((work) => [work.id, work]));
    const marks = tasks.map(markOf);
    expect(new Set(marks).size).toBe(marks.length);
    const ordered = new Set(upstream.works.map(({ mark }) => mark));
    const wrong = tasks
      .filter(({ admission }) => admission === 'accepted')
      .filter((task) => {
        if (hasWaitedInVain(task)) return ordered.has(markOf(task));
        const work = works.get(upstreamIdOf(task) ?? '');
        return (
          work === undefined || task.state !== (work.words.has('fail') ? 'TASK_STATE_FAILED' : 'TASK_STATE_COMPLETED')
        );
      });
    expect(wrong).toEqual([]);
  });

  test(
    'every client with an id can read its task, and no refused client has a task',
    async () => {
      const { upstream, program, load, tasks } = simulated();
      const caller = httpCaller(program.base, KEYS.demo);
      for (const { taskId, order, refusal } of load.told) {
        if (taskId === undefined) {
          expect([429, 503]).toContain(refusal);
          expect(tasks.filter((task) => markOf(task) === order.mark)).toEqual([]);
          expect(upstream.works.filter(({ mark }) => mark === order.mark)).toEqual([]);
          continue;
        }
        const answer = await caller.call('GET', `/v1/videos/${taskId}`);
        (load.answers as (typeof answer)[]).push(answer);
        expect(answer.status).toBe(200);
        expect(tasks.filter(({ id }) => id === taskId).map(markOf)).toEqual([order.mark]);
      }
    },
    TIMEOUT_MS,
  );

  test(
    'the same key gives the same task after all disturbances, without a call to the upstream',
    async () => {
      const { upstream, program, load } = simulated();
      const before = upstream.asked.length;
      for (const { order, taskId } of load.told.filter((one) => one.taskId !== undefined).slice(0, REPLAYED_MAX)) {
        expect((await insist({ base: program.base, token: KEYS.demo }, order, [])).taskId).toBe(taskId);
      }
      expect(upstream.asked.length).toBe(before);
    },
    TIMEOUT_MS,
  );

  test(
    'the charges are the usage of the upstream at the prices, and only unknown outcomes have holds',
    async () => {
      const { upstream, program, tasks } = simulated();
      const {
        now,
        account: { balance, held },
      } = await settledMoment(program);
      // All known tasks have ended, so only an unknown task that is found later moves money.
      const lost = new Set(tasks.filter(({ admission }) => admission === 'unknown').map(({ id }) => id));
      const foundSince = now.filter(({ id, admission }) => lost.has(id) && admission !== 'unknown');
      console.log(`found since: ${foundSince.length}, ${settledSum(foundSince)} cents`);
      expect(settledSum(now) - settledSum(tasks)).toBe(settledSum(foundSince));
      const unknown = now.filter(({ admission }) => admission === 'unknown');
      const known = new Set(now.map(upstreamIdOf));
      const due = upstream.works.filter(({ id }) => known.has(id)).reduce((sum, work) => sum + costOf(work), 0);
      expect(settledSum(now)).toBe(due);
      expect(cents(balance)).toBe(cents(CREDIT) - due);
      expect(unknown.filter(({ hold, settlement }) => hold === undefined || settlement !== undefined)).toEqual([]);
      expect(cents(held)).toBe(unknown.reduce((sum, { hold }) => sum + cents(formatAmount(hold!.amountNanos)), 0));
      expect((await program.command('ledger', 'verify')).json).toMatchObject({
        ok: true,
        sums: { USD: '0' },
        unsettled_terminal_tasks: [],
        orphan_holds: [],
      });
    },
    TIMEOUT_MS,
  );

  test('no answer holds anything of the upstream', () => {
    const { upstream, load } = simulated();
    const seen = load.answers.map(({ text, headers }) => text + JSON.stringify([...headers])).join('\n');
    for (const secret of [upstream.host, UPSTREAM_KEY, UPSTREAM_MODEL, CHANNEL, SECOND_CHANNEL, 'account-of-the-test'])
      expect(seen).not.toContain(secret);
    expect(upstream.works.filter(({ id }) => seen.includes(id))).toEqual([]);
  });
}
