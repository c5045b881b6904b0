import { describe, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { channelSettings } from '../../testing/channel-settings.ts';
import { useWorlds } from '../../testing/open-world.ts';
import type { World } from '../../testing/open-world.ts';
import { anOrder } from '../../testing/orders.ts';
import type { WaitPreference } from '../domain/wait-plan.ts';
import { turnTaker } from './take-turns.ts';
import type { TurnTaker } from './take-turns.ts';

/*
 * Accounts with unlike habits over two channels, in simulated time. `REELGATE_QUEUE_MINUTES` makes it longer, and
 * `REELGATE_QUEUE_FIGURES=1` prints what it measured.
 */

const open = useWorlds();
const MINUTES = Number(process.env['REELGATE_QUEUE_MINUTES'] ?? 5);
const PRINTS = process.env['REELGATE_QUEUE_FIGURES'] === '1';
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Submissions of two channels in a minute: with places for all of them, they are the capacity. */
const WIDE = [60, 36];
const NARROW = [30, 18];
const WORK_MS = 30 * SECOND_MS;
/** No multiple of the pauses between turns, so that its tasks come at all moments between two of them. */
const STEADY_EVERY_MS = 4300;
const TIMEOUT_MS = 60_000 + MINUTES * 60_000;

interface Arrival {
  readonly at: number;
  readonly accountId: string;
  readonly wait?: WaitPreference;
}

interface Start {
  readonly accountId: string;
  readonly waitedMs: number;
  readonly at: number;
}

/** A task each `everyMs`, from the first second on. */
const steadily = (accountId: string, everyMs: number): readonly Arrival[] =>
  Array.from({ length: Math.floor((MINUTES * MINUTE_MS - SECOND_MS) / everyMs) }, (_none, index) => ({
    at: SECOND_MS + index * everyMs,
    accountId,
  }));

const atOnce = (accountId: string, count: number, wait: WaitPreference = {}): readonly Arrival[] =>
  Array.from({ length: count }, () => ({ at: 0, accountId, wait }));

async function openQueue(perMinute: readonly number[]): Promise<World> {
  const channels = perMinute.map((requestsPerMinute, index) =>
    channelSettings({ id: `channel-${index}`, inFlightMax: 10_000, requestsPerMinute, priority: -index }),
  );
  return open({
    channels,
    limits: { inFlightPerToken: 100_000, inFlightTotal: 100_000 },
    queue: {
      perAccount: 100_000,
      total: 100_000,
      longestWaitMs: { interactive: DAY_MS, standard: DAY_MS, batch: DAY_MS },
    },
  });
}

/** Runs the arrivals, the turns and the ends of the works in the order of their times, and returns the starts. */
async function simulate(world: World, arrivals: readonly Arrival[]): Promise<readonly Start[]> {
  const { deps, clock } = world;
  const turns = turnTaker(
    deps,
    () => 1,
    () => undefined,
  );
  const begin = clock.now();
  const created = new Map<string, Arrival>();
  const starts: Start[] = [];
  const ends: { readonly at: number; readonly taskId: string }[] = [];
  const pending = arrivals.toSorted((one, other) => one.at - other.at);
  let seen = 0;
  let nextPass = Infinity;

  const note = (): void => {
    for (const {
      attempt: { key },
    } of world.upstream.submitted.slice(seen)) {
      const taskId = key.slice(0, key.lastIndexOf('-'));
      const { accountId, at } = created.get(taskId) ?? { accountId: 'direct', at: clock.now() - begin };
      starts.push({ accountId, waitedMs: clock.now() - begin - at, at: clock.now() - begin });
      ends.push({ at: clock.now() + WORK_MS, taskId });
    }
    seen = world.upstream.submitted.length;
  };
  const arrive = async ({ accountId, wait = {} }: Arrival): Promise<void> => {
    const { task } = await world.create(anOrder({ duration: 5 }), { accountId, tokenId: `token-${accountId}`, wait });
    created.set(task.id, { at: clock.now() - begin, accountId });
    note();
  };
  while (clock.now() - begin < MINUTES * MINUTE_MS) {
    const at = Math.min(begin + (pending[0]?.at ?? Infinity), ends[0]?.at ?? Infinity, nextPass);
    await clock.advance(Math.max(0, at - clock.now()));
    while (pending[0] !== undefined && begin + pending[0].at <= clock.now()) await arrive(pending.shift()!);
    while (ends[0] !== undefined && ends[0].at <= clock.now())
      await deps.store.finish(ends.shift()!.taskId, { state: 'failed', at: clock.now() });
    nextPass = await passUntilRest(world, turns);
    note();
  }
  return starts;
}

async function passUntilRest({ deps, clock }: World, turns: TurnTaker): Promise<number> {
  for (;;) {
    const result = await turns.pass();
    await until(() => deps.creating.size === 0);
    if (typeof result !== 'number') return Math.max(result.dueAt, clock.now() + 1);
  }
}

/** The tasks that channels start in the whole time. */
const computeCapacity = (perMinute: readonly number[]): number => perMinute.reduce((sum, each) => sum + each) * MINUTES;
const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) * part)] ?? 0;

function print(what: string, figures: object): void {
  if (PRINTS) process.stderr.write(`${what}: ${JSON.stringify(figures)}\n`);
}

describe(`${MINUTES} minutes of waiting`, () => {
  test(
    'an account within its share starts at once beside a flood and bursts, and no capacity is left',
    async () => {
      const world = await openQueue(WIDE);
      const bursts = [1, 2, 3, 4].flatMap((minute) =>
        Array.from({ length: 12 }, () => ({ at: minute * MINUTE_MS, accountId: 'bursts' })),
      );
      const flood = Math.ceil(computeCapacity(WIDE) * 1.1);
      const starts = await simulate(world, [
        ...atOnce('flood', flood),
        ...steadily('steady', STEADY_EVERY_MS),
        ...bursts,
      ]);

      const steady = starts.flatMap(({ accountId, waitedMs }) => (accountId === 'steady' ? [waitedMs] : []));
      const used = starts.length / computeCapacity(WIDE);
      print('beside a flood', { p50: quantile(steady, 0.5), p99: quantile(steady, 0.99), used, starts: starts.length });
      expect(quantile(steady, 0.5)).toBeLessThanOrEqual(1000);
      expect(quantile(steady, 0.99)).toBeLessThanOrEqual(5000);
      expect(used).toBeGreaterThanOrEqual(0.98);
    },
    TIMEOUT_MS,
  );

  test(
    'accounts share the channels by their weights',
    async () => {
      const world = await openQueue(NARROW);
      const weights: Readonly<Record<string, number>> = { four: 4, one: 1, other: 1 };
      const each = computeCapacity(NARROW);
      for (const [accountId, weight] of Object.entries(weights))
        await world.sql.write('INSERT INTO queue_rules (subject, weight) VALUES ($1, $2)', [
          `account:${accountId}`,
          weight,
        ]);
      const starts = await simulate(
        world,
        Object.keys(weights).flatMap((accountId) => atOnce(accountId, each)),
      );

      // the first tasks found the channels open
      const shared = starts.filter(({ at }) => at > MINUTE_MS);
      const shares = Object.entries(weights).map(([accountId, weight]) => {
        const share = shared.filter((start) => start.accountId === accountId).length / shared.length;
        return { accountId, off: share / (weight / 6) - 1 };
      });
      print('by weights 4:1:1', { shares, starts: shared.length });
      for (const { off } of shares) expect(Math.abs(off)).toBeLessThanOrEqual(0.05);
    },
    TIMEOUT_MS,
  );

  test(
    'the lowest class has a tenth of the turns, whatever waits above it',
    async () => {
      const world = await openQueue(NARROW);
      const each = computeCapacity(NARROW);
      const starts = await simulate(world, [...atOnce('above', each), ...atOnce('below', each, { class: 'batch' })]);

      const shared = starts.filter(({ at }) => at > MINUTE_MS);
      const below = shared.filter(({ accountId }) => accountId === 'below').length / shared.length;
      print('two classes', { below, starts: shared.length });
      expect(below).toBeGreaterThanOrEqual(0.095);
      expect(below).toBeLessThanOrEqual(0.105);
    },
    TIMEOUT_MS,
  );
});
