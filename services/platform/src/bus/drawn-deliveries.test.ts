import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ProblemSchema } from '@reelgate/proto/problem/v1/problem';
import type { Problem } from '@reelgate/proto/problem/v1/problem';
import { describeWith } from '../../../../test/servers/describe-with.ts';
import { natsServer } from '../../../../test/servers/nats-server.ts';
import { anEvent } from '../../testing/bus-conformance.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { SEQUENCES_TIMEOUT_MS, checkSequences, drawSequence, newStory } from '../../testing/sequences.ts';
import { until, untilAfter } from '../../testing/until.ts';
import { silentLog } from '../log.ts';
import { busSettings } from './bus-settings.ts';
import type { Bus, Subscription } from './bus.ts';
import { newLocalBus } from './local-bus.ts';
import { openNatsBus } from './nats-bus.ts';

const STEPS_MAX = 25;
const GROUPS = ['settlements', 'webhooks'] as const;
type Group = (typeof GROUPS)[number];
/** The last event of each sequence. */
const LAST = 'last';

type Step =
  | { readonly publishes: string }
  | { readonly joins: Group }
  /** The member of the group that joined first leaves it. */
  | { readonly leaves: Group }
  /** The next deliveries of an event to the group fail. */
  | { readonly fails: string; readonly of: Group; readonly times: number };

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const group = fc.constantFrom(...GROUPS);
const drawStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ publishes: id }) },
  { weight: 3, arbitrary: fc.record({ joins: group }) },
  { weight: 2, arbitrary: fc.record({ leaves: group }) },
  { weight: 1, arbitrary: fc.record({ fails: id, of: group, times: fc.integer({ min: 1, max: 2 }) }) },
);

/** What the contract promises of one sequence. */
interface DeliveryModel {
  apply(step: Step): void;
  /** The events that the group must handle. */
  owed(group: Group): ReadonlySet<string>;
  /** The events that the group may handle. */
  allowed(group: Group): ReadonlySet<string>;
}

/** `keeps`: a group gets what was published before its first member, and while it had none. */
function newDeliveryModel(keeps: boolean): DeliveryModel {
  const published = new Set<string>();
  const members = new Map<Group, number>(GROUPS.map((name) => [name, 0]));
  const known = new Set<Group>();
  const owed = new Map<Group, Set<string>>(GROUPS.map((name) => [name, new Set()]));
  const allowed = new Map<Group, Set<string>>(GROUPS.map((name) => [name, new Set()]));
  return {
    apply: (step) => {
      if ('joins' in step) {
        known.add(step.joins);
        members.set(step.joins, (members.get(step.joins) ?? 0) + 1);
      } else if ('leaves' in step) {
        const left = Math.max(0, (members.get(step.leaves) ?? 0) - 1);
        members.set(step.leaves, left);
        // without a member, what failed before is lost too
        if (left === 0) owed.get(step.leaves)?.clear();
      } else if ('publishes' in step && !published.has(step.publishes)) {
        published.add(step.publishes);
        for (const name of known) allowed.get(name)?.add(step.publishes);
        for (const name of known) if ((members.get(name) ?? 0) > 0) owed.get(name)?.add(step.publishes);
      }
    },
    owed: (name) => (keeps ? published : (owed.get(name) ?? new Set())),
    allowed: (name) => (keeps ? published : (allowed.get(name) ?? new Set())),
  };
}

interface Handled {
  readonly name: string;
  readonly isDone: boolean;
}

interface BusWorld {
  readonly bus: Bus;
  /** Resolves once the condition holds. */
  readonly settle: (condition: () => boolean) => Promise<void>;
}

let sequences = 0;

/** Runs the steps on a bus. Then each group has a member, and everything that it is owed must arrive. */
async function runSequence(steps: readonly Step[], { bus, settle }: BusWorld, keeps: boolean): Promise<void> {
  const prefix = `drawn-${(sequences += 1)}`;
  const story = newStory();
  const model = newDeliveryModel(keeps);
  const members = new Map<Group, Subscription[]>(GROUPS.map((name) => [name, []]));
  const handled = new Map<Group, Handled[]>(GROUPS.map((name) => [name, []]));
  const failures = new Map<string, number>();
  const running = new Set<string>();
  const overlaps: string[] = [];
  const listDone = (name: Group): string[] =>
    (handled.get(name) ?? []).filter(({ isDone }) => isDone).map((one) => one.name);

  const handle = async (name: Group, { reason }: Problem): Promise<void> => {
    // a group gets the events of other sequences too
    if (!reason.startsWith(`${prefix}-`)) return;
    const event = reason.slice(prefix.length + 1);
    const key = `${name} ${event}`;
    if (running.has(key)) overlaps.push(key);
    running.add(key);
    await new Promise((resolve) => setImmediate(resolve));
    running.delete(key);
    const left = failures.get(key) ?? 0;
    failures.set(key, left - 1);
    handled.get(name)?.push({ name: event, isDone: left <= 0 });
    if (left > 0) throw new Error('not now');
  };
  const run = async (step: Step): Promise<void> => {
    story.tell(JSON.stringify(step));
    model.apply(step);
    if ('publishes' in step)
      await bus.publish(ProblemSchema, anEvent(`${prefix}-${step.publishes}`), `${prefix}-${step.publishes}`);
    else if ('joins' in step)
      members
        .get(step.joins)
        ?.push(await bus.subscribe(ProblemSchema, `${prefix}-${step.joins}`, (event) => handle(step.joins, event)));
    else if ('leaves' in step) await members.get(step.leaves)?.shift()?.stop();
    else failures.set(`${step.of} ${step.fails}`, step.times);
  };

  try {
    for (const step of steps) await run(step);
    for (const name of GROUPS) if (members.get(name)?.length === 0) await run({ joins: name });
    await run({ publishes: LAST });
    await settle(() => GROUPS.every((name) => [...model.owed(name)].every((event) => listDone(name).includes(event))));
    story.check(() => {
      expect(overlaps).toEqual([]);
      for (const name of GROUPS) {
        const done = listDone(name);
        expect(done.filter((event) => !model.allowed(name).has(event))).toEqual([]);
        expect(done.filter((event, at) => done.indexOf(event) !== at)).toEqual([]);
      }
    });
  } catch (error) {
    story.check(() => {
      throw error;
    });
  } finally {
    for (const name of GROUPS) for (const member of members.get(name) ?? []) await member.stop();
  }
}

describe('drawn deliveries of a bus in this process', () => {
  test(
    'reach each group that had a member, once, however its members fail, leave and return',
    async () => {
      await checkSequences(drawSequence(drawStep, STEPS_MAX), async (steps) => {
        const clock = fakeClock();
        const bus = newLocalBus(clock, silentLog);
        await runSequence(steps, { bus, settle: (condition) => untilAfter(clock, condition) }, false);
        await bus.close();
      });
    },
    SEQUENCES_TIMEOUT_MS,
  );
});

describeWith(natsServer, 'drawn deliveries of a bus', (url) => {
  let bus: Bus;
  beforeAll(async () => {
    bus = await openNatsBus(busSettings(url()), silentLog);
  });
  afterAll(() => bus.close());

  test(
    'reach each group, once, also those that join later, however their members fail, leave and return',
    async () => {
      await checkSequences(drawSequence(drawStep, STEPS_MAX), (steps) =>
        runSequence(steps, { bus, settle: until }, true),
      );
    },
    SEQUENCES_TIMEOUT_MS,
  );
});
