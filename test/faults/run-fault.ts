import { setTimeout as wait } from 'node:timers/promises';
import { wrongInBooks } from './books.ts';
import { startLoad } from './clients.ts';
import type { Order } from './clients.ts';
import { failed, listFailures } from './notes.ts';
import type { Note } from './notes.ts';
import type { World } from './world.ts';

/** The endpoints know a killed pod's end about so late; until then new connections go to it. */
const NOTICED_MS = 2500;
/** From the end of an outage until requests succeed again. */
const RECOVERY_MS = 15_000;
const RECOVERED_FOR_MS = 1000;
const BEFORE_MS = 1500;
const ANSWER_MS_MAX = 35_000;

/** What may fail: nothing; what was in the hands of a killed process; anything while a store is away. */
export type Allowed = 'nothing' | 'in hand' | 'while it lasts';

export interface Fault {
  readonly name: string;
  readonly allows: Allowed;
  /** Whether connections may end without an answer: the gateway itself is hit. */
  readonly hitsGateway: boolean;
  /** Brings the fault and ends it. Calls `killed` after each kill. */
  readonly run: (world: World, killed: () => void) => Promise<void>;
}

export interface LoadRate {
  readonly createsPerSecond: number;
  readonly othersPerSecond: number;
}

/** The outcome of one fault. */
export interface Outcome {
  readonly requests: number;
  readonly failures: readonly string[];
  /** What must not be; empty if all is well. */
  readonly wrong: readonly string[];
  readonly notes: readonly Note[];
}

/** Brings a fault to the world under load, waits until the world has recovered, and judges what clients saw. */
export async function runFault(
  world: World,
  fault: Fault,
  { seed, rate, orders }: { readonly seed: number; readonly rate: LoadRate; readonly orders: Order[] },
): Promise<Outcome> {
  const load = startLoad({ base: world.base, seed, ...rate });
  const kills: number[] = [];
  await wait(BEFORE_MS);
  const from = performance.now();
  const broken = await fault
    .run(world, () => kills.push(performance.now()))
    .then(() => world.available())
    .catch((error: unknown) => error as Error);
  const to = performance.now();
  await untilQuiet(load.notes, to);
  await load.end();
  orders.push(...load.orders);
  const { notes } = load;
  return {
    requests: notes.length,
    failures: listFailures(notes),
    notes,
    wrong: [
      ...(broken instanceof Error ? [`${fault.name}: ${broken.message}`] : []),
      ...wrongNotes(notes, fault, { from, to, kills }),
      ...(await wrongInBooks(world, orders)),
    ],
  };
}

/** Resolves when no request has failed for a moment, or when the time for the recovery is over. */
async function untilQuiet(notes: readonly Note[], since: number): Promise<void> {
  for (;;) {
    await wait(RECOVERED_FOR_MS / 4);
    const lastFailure = Math.max(since, ...notes.filter(failed).map(({ to }) => to));
    const now = performance.now();
    if (now - lastFailure > RECOVERED_FOR_MS || now - since > RECOVERY_MS + RECOVERED_FOR_MS) return;
  }
}

interface Span {
  readonly from: number;
  readonly to: number;
  readonly kills: readonly number[];
}

function wrongNotes(notes: readonly Note[], { allows, hitsGateway }: Fault, span: Span): readonly string[] {
  const isAllowed: Readonly<Record<Allowed, (note: Note) => boolean>> = {
    nothing: () => false,
    'in hand': ({ from, to }) => span.kills.some((at) => from <= at + NOTICED_MS && to >= at),
    'while it lasts': ({ from }) => from >= span.from - ANSWER_MS_MAX && from <= span.to + RECOVERY_MS,
  };
  const failures = notes.filter(failed);
  const unexpected = failures.filter((note) => !isAllowed[allows](note));
  const expected = failures.filter((note) => isAllowed[allows](note));
  const unanswered = expected.filter(({ status }) => status === undefined && !hitsGateway);
  const adviceless = expected.filter(({ status, advice }) => status !== undefined && advice === undefined);
  const late = notes.filter(({ from, to }) => to - from > ANSWER_MS_MAX);
  return [
    ...listFailures(unexpected).map((line) => `failed: ${line}`),
    ...listFailures(unanswered).map((line) => `had no answer: ${line}`),
    ...listFailures(adviceless).map((line) => `does not say whether to repeat: ${line}`),
    ...(late.length === 0 ? [] : [`${late.length} requests took more than ${ANSWER_MS_MAX} ms`]),
  ];
}
