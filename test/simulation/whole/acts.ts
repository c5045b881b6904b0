import { FAULTS } from './faults.ts';
import type { Fault, Faults } from './faults.ts';

/**
 * What a run can do, and the least share of seeds in which it must succeed. A refusal succeeds if it comes as it should.
 * The shares are those of many seeds, of which each has only some of the faults, limits and acts.
 */
export const LEAST_SHARES = {
  'an order is accepted by openai': 0.9,
  'an order is accepted by vendor': 0.9,
  'an order is accepted by generations': 0.9,
  'an order is accepted by openrouter': 0.9,
  'a key is repeated': 0.7,
  'a key with another body is refused': 0.5,
  'a key is repeated on another path': 0.3,
  'a picture is taken': 0.7,
  'a reference video is taken': 0.3,
  'an order above its bound is refused': 0.5,
  'an order within its bound is accepted': 0.7,
  'an order without money is refused': 0.5,
  'an order above the limit of its token is refused': 0.15,
  'an order above a limit of tasks in flight is refused': 0.05,
  'an order waits for a channel': 0.1,
  'a task completes': 0.9,
  'a task fails': 0.7,
  'a cancel succeeds': 0.5,
  'a result is read': 0.7,
  'a task is deleted': 0.5,
  'a foreign task is not found': 0.6,
  'a remix is accepted': 0.3,
  'a remix completes': 0.2,
  'a remix of a remix is refused': 0.1,
  'usage is below the order': 0.3,
  'usage is above the order': 0.3,
  'usage far above the order waits for a person': 0.1,
  'work in an unknown state waits for a person': 0.1,
  'an order is charged a changed price': 0.2,
  'an order is charged the price of its class': 0.1,
  'a label is kept': 0.7,
  'a made token orders': 0.3,
  'a token is made': 0.4,
  'the limit of a maker refuses its tree': 0.1,
  'a file is uploaded': 0.5,
  'a batch completes': 0.2,
  'a batch is cancelled': 0.05,
  'a line of a batch completes': 0.3,
  'a call is answered': 0.2,
  'a call is streamed': 0.2,
  'a queued call completes': 0.5,
  'a queued call outlasts its lease': 0.2,
  'a stream hears an event': 0.2,
  'a task is ordered over gRPC': 0.8,
  'a task over gRPC completes': 0.7,
  'a key over gRPC is repeated': 0.4,
  'a key over gRPC with another order is refused': 0.3,
  'an order over gRPC above its bound is refused': 0.1,
  'a cancel over gRPC succeeds': 0.1,
  'a task is listed by its key': 0.7,
  'a call in the name of another account is refused': 0.7,
  'a watch tells the end of a task': 0.4,
  'a file in pieces is uploaded': 0.6,
  'a file is read back': 0.6,
  'a deleted file is not found': 0.3,
  'an upload that stops is refused': 0.2,
  'a broken upload makes no file': 0.4,
  'an order in pieces is accepted': 0.3,
  'a body of the largest size is accepted': 0.3,
  'a body that is too slow is refused': 0.4,
  'a body beyond its bound is refused': 0.5,
  'an order without a whole body has no task': 0.6,
  'a webhook is delivered': 0.8,
  'a callback is taken': 0.15,
  'a channel is paused': 0.2,
  'a token is revoked': 0.3,
  'an account is credited': 0.2,
  'a limit is lowered': 0.2,
  'the queue is held': 0.1,
  'an account is weighed': 0.1,
  'queued tasks are withdrawn': 0.05,
  'a configuration is read again': 0.5,
  'an endpoint is added': 0.4,
  'an endpoint is removed': 0.05,
  'a person decides': 0.2,
  'a pause ends at its time': 0.03,
  'the sums are computed again': 0.1,
  'a queued task is moved': 0.1,
  'a secret is rotated': 0.05,
  'a sample event is sent': 0.05,
  'a wrong key is refused': 0.05,
  'a record is within its time': 0.2,
  'a result is gone after its time': 0.1,
  'a file is gone after its time': 0.05,
  'a batch is gone after its time': 0.05,
  'a delivery is gone after its time': 0.05,
  'a task is gone after its time': 0.05,
  'a key is kept for its time': 0.05,
  'a key is free after its time': 0.05,
  'a backup is restored': 0.05,
} as const satisfies Readonly<Record<string, number>>;

export type Act = keyof typeof LEAST_SHARES;

/** Each fault is on in seven of ten seeds with faults. */
const FAULT_SHARE = 0.1;
/** These need several processes, or a stream at the right moment. */
const RARE_FAULTS: ReadonlySet<Fault> = new Set([
  'lost commit',
  'lost bus answer',
  'lost announcement',
  'late announcement',
  'doubled announcement',
  'server away',
  'broken stream',
]);
const RARE_FAULT_SHARE = 0.025;

/** What has succeeded in a run. */
export interface Acts {
  note(act: Act): void;
  /** How often each act has succeeded. */
  readonly counts: () => Readonly<Partial<Record<Act, number>>>;
}

export function openActs(): Acts {
  const counts = new Map<Act, number>();
  return {
    note: (act) => {
      counts.set(act, (counts.get(act) ?? 0) + 1);
    },
    counts: () => Object.fromEntries(counts),
  };
}

/** What a seed did, by name: acts with their times, and the faults that have happened. */
export interface SeedActs {
  readonly acts: Readonly<Partial<Record<Act, number>>>;
  readonly happened: readonly string[];
}

/** The acts and faults that happened in a smaller share of the seeds than they must, as sentences. */
export function listRareActs(seeds: readonly SeedActs[]): readonly string[] {
  const describe = (name: string, times: number, least: number): string[] => {
    const share = times / seeds.length;
    return share >= least
      ? []
      : [`${name}: in ${describeShare(share)} of the seeds, must be in ${describeShare(least)}`];
  };
  return [
    ...Object.entries(LEAST_SHARES).flatMap(([act, least]) =>
      describe(act, seeds.filter(({ acts }) => (acts[act as Act] ?? 0) > 0).length, least),
    ),
    ...FAULTS.flatMap((fault) =>
      describe(
        fault,
        seeds.filter(({ happened }) => happened.includes(fault)).length,
        RARE_FAULTS.has(fault) ? RARE_FAULT_SHARE : FAULT_SHARE,
      ),
    ),
  ];
}

/** The faults that have happened, and not only could. */
export function listHappened(faults: Faults): readonly string[] {
  return FAULTS.filter((fault) => faults.listPlaces(fault).length > 0);
}

export function describeShare(share: number): string {
  return `${Math.round(share * 100)} %`;
}
