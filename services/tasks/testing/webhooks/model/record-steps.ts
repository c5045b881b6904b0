import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import type { DeliveryState, Health } from '../../../src/domain/webhook.ts';
import type { JudgedAttempt } from '../../../src/domain/rules/judge-attempts.ts';
import type { ReceiverLease, ReceiverRecord } from '../../../src/store/webhook-store.ts';
import type { Aims, CallDraws, DrawnCall, DrawnStep } from '../../store/model/drawn-calls.ts';
import { aRecord, attempted } from '../opened-webhooks.ts';
import type { ModelledWebhooks } from './model-webhook-store.ts';
import { findReceiver } from './webhooks-state.ts';
import type { WebhooksState } from './webhooks-state.ts';

type Bind = DrawnStep<WebhooksState, ModelledWebhooks>['bind'];

const LEASE_OF_NOBODY: ReceiverLease = { receiverId: 'whe_1', lease: 'lease_of_nobody' };
const ATTEMPTS_MAX = 3;
const WHICH_MAX = 100;
const ROUNDS_MAX = 5;
/** No two attempts of a sequence begin at the same moment and take the same time. */
const DURATION_MAX = 1_000_000_000;

/** The leases that are held. Any: also one that was lost. */
const leases: Aims<WebhooksState, ReceiverLease> = {
  meant: ({ receivers }) =>
    receivers.flatMap(({ id, lease }) => (lease === undefined ? [] : [{ receiverId: id, lease }])),
  any: ({ given }) => [LEASE_OF_NOBODY, ...given],
};

const soonMs = fc.integer({ min: 0, max: 4000 });

/** The outcomes of an attempt: the answer, and what its worker makes of it. */
const OUTCOMES: readonly { readonly state: DeliveryState; readonly status: number }[] = [
  { state: 'delivered', status: 200 },
  { state: 'delivered', status: 204 },
  { state: 'pending', status: 503 },
  { state: 'pending', status: 503 },
  { state: 'pending', status: 429 },
  { state: 'failed', status: 0 },
];
const outcome = fc.record({
  // the first delivery is attempted most, so that some come to the end of what is allowed
  which: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(WHICH_MAX) }),
  from: fc.constantFrom('pending', 'pending', 'pending', 'pending', 'receiver', 'all'),
  answer: fc.constantFrom(...OUTCOMES),
  durationMs: fc.nat(DURATION_MAX),
  dueMs: fc.option(soonMs, { nil: undefined, freq: 6 }),
  isLate: fc.constantFrom(false, false, true),
});
/** The outcome of an attempt that a later success makes due before its time. */
const FLAPPING = {
  which: 0,
  from: 'pending',
  answer: { state: 'pending', status: 503 },
  dueMs: 5000,
  isLate: false,
} as const;
type DrawnOutcome = typeof outcome extends Arbitrary<infer T> ? T : never;

const failing = fc.record({ failures: fc.integer({ min: 1, max: 5 }), openMs: fc.option(soonMs, { nil: undefined }) });
const work = fc.record({
  outcomes: fc.array(outcome, { minLength: 1, maxLength: ATTEMPTS_MAX, size: 'max' }),
  health: fc.option(failing, { nil: undefined }),
  counts: fc.constantFrom(0, 1),
  hasRecovered: fc.boolean(),
  returned: fc.constantFrom(true, true, false),
});
type DrawnWork = typeof work extends Arbitrary<infer T> ? T : never;

/** What a worker did under a lease, at a time that is known when it is written. */
interface MadeWork {
  readonly told: string;
  readonly toRecord: (at: number) => ReceiverRecord;
}

/** Chooses the deliveries that a worker attempted: those that it has, seldom others. */
function chooseWork(state: WebhooksState, { receiverId, lease }: ReceiverLease, drawn: DrawnWork): MadeWork {
  const { outcomes, health, counts, hasRecovered, returned } = drawn;
  const circuit = (findReceiver(state, receiverId)?.circuit ?? 0) + counts;
  const attempts = outcomes.flatMap((one) => chooseAttempt(state, receiverId, one));
  return {
    told: JSON.stringify({ receiverId, lease, attempts, health, circuit, hasRecovered, returned }),
    toRecord: (at) =>
      aRecord(
        { id: receiverId, lease },
        attempts.map((one) => toJudged(one, at)),
        { health: toHealth(health, at), circuit, hasRecovered, returned, at },
      ),
  };
}

function toHealth(drawn: DrawnWork['health'], at: number): Health {
  if (drawn === undefined) return { failures: 0, lastSuccessAt: at };
  const { failures, openMs } = drawn;
  const openUntil = openMs === undefined ? undefined : at + openMs;
  return { failures, failingSince: at - 1000, openUntil, lastFailureAt: at };
}

interface ChosenAttempt extends Pick<DrawnOutcome, 'answer' | 'durationMs' | 'dueMs'> {
  readonly deliveryId: string;
  readonly number: number;
}

function chooseAttempt(
  { deliveries }: WebhooksState,
  receiverId: string,
  { which, from, isLate, ...drawn }: DrawnOutcome,
): readonly ChosenAttempt[] {
  const meant = deliveries.filter(
    (one) => from === 'all' || (one.receiverId === receiverId && (from === 'receiver' || one.state === 'pending')),
  );
  const delivery = meant[which % Math.max(1, meant.length)];
  if (delivery === undefined) return [];
  // a worker that was late does not know of the attempt after its own
  return [{ ...drawn, deliveryId: delivery.id, number: delivery.attempts + (isLate ? 0 : 1) }];
}

function toJudged({ deliveryId, number, answer, durationMs, dueMs }: ChosenAttempt, at: number): JudgedAttempt {
  const { attempt } = attempted(deliveryId, { number, at, status: answer.status });
  const dueAt = answer.state === 'pending' && dueMs !== undefined ? at + dueMs : undefined;
  return { deliveryId, attempt: { ...attempt, durationMs }, state: answer.state, dueAt };
}

function findOther(state: WebhooksState, lease: ReceiverLease): ReceiverLease | undefined {
  return leases.meant(state).find(({ receiverId }) => receiverId !== lease.receiverId);
}

/** The first delivery of a receiver fails again and again, while others succeed. */
function flap(
  lease: ReceiverLease,
  [drawn, rounds]: readonly [DrawnOutcome, number],
  state: WebhooksState,
): DrawnCall<WebhooksState, ModelledWebhooks> {
  const { receiverId } = lease;
  const failure: DrawnOutcome = { ...drawn, ...FLAPPING };
  const made = Array.from({ length: rounds }, (_, round) =>
    chooseAttempt(state, receiverId, failure).map((one) => ({
      ...one,
      number: one.number + round,
      durationMs: one.durationMs + round,
    })),
  );
  const circuit = findReceiver(state, receiverId)?.circuit ?? 0;
  return {
    name: `recordAttempts ${rounds} times under ${JSON.stringify(lease)} ${JSON.stringify(made[0])}`,
    call: async (store, at) => {
      const lost = [];
      for (const attempts of made) {
        const judged = attempts.map((one) => toJudged(one, at));
        const changes = { health: toHealth(undefined, at), circuit, hasRecovered: true, returned: false, at };
        lost.push(await store.recordAttempts([aRecord({ id: receiverId, lease: lease.lease }, judged, changes)]));
      }
      return lost;
    },
  };
}

/** Draws what workers do under their leases. */
export function recordSteps({
  plain,
  aim,
}: CallDraws<WebhooksState, ModelledWebhooks>): Record<
  'record' | 'disablingRecord' | 'repeatedRecord' | 'flappingRecords' | 'renew' | 'hold' | 'endLeases',
  Arbitrary<Bind>
> {
  const write = (disable: Arbitrary<ReceiverRecord['disable']>): Arbitrary<Bind> =>
    aim(leases, fc.tuple(work, fc.option(work, { nil: undefined, freq: 3 }), disable), (lease, drawn, state) => {
      const [done, more, reason] = drawn;
      const second = findOther(state, lease);
      const first = chooseWork(state, lease, done);
      const others = more === undefined || second === undefined ? [] : [chooseWork(state, second, more)];
      return {
        name: `recordAttempts ${[first, ...others].map(({ told }) => told).join(' and ')}, disable ${reason}`,
        call: (store, at) => {
          const records = [{ ...first.toRecord(at), disable: reason }, ...others.map((one) => one.toRecord(at))];
          return store.recordAttempts(records);
        },
      };
    });
  return {
    record: write(fc.constant(undefined)),
    disablingRecord: write(fc.constantFrom('gone', 'failing')),
    repeatedRecord: aim({ meant: ({ records }) => records, any: ({ records }) => records }, fc.constant(0), (one) => ({
      name: `recordAttempts again ${JSON.stringify(one)}`,
      call: (store) => store.recordAttempts([one]),
    })),
    flappingRecords: aim(leases, fc.tuple(outcome, fc.integer({ min: 3, max: ROUNDS_MAX })), flap),
    renew: aim(leases, soonMs, (lease, ms, state) => {
      const second = findOther(state, lease);
      const some = second === undefined ? [lease] : [lease, second];
      return {
        name: `renewLeases ${JSON.stringify(some)} for ${ms} ms`,
        call: (store, at) => store.renewLeases(some, at + ms),
      };
    }),
    hold: aim(leases, fc.constant(0), (lease) => ({
      name: `findHeldReceivers ${JSON.stringify(lease)}`,
      call: (store) => store.findHeldReceivers([lease]),
    })),
    endLeases: plain(fc.constant(0), () => ({ name: 'endLeases', call: (store, at) => store.endLeases(at) })),
  };
}
