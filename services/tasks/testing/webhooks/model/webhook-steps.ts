import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { EVENT_TYPES } from '../../../src/domain/webhook.ts';
import type { Delivery } from '../../../src/domain/webhook.ts';
import { newCallDraws } from '../../store/model/drawn-calls.ts';
import type { Aims, DrawnStep } from '../../store/model/drawn-calls.ts';
import { aSecret, anEndpoint, anEvent } from '../opened-webhooks.ts';
import { listIdle } from './model-deliveries.ts';
import { listNextReceivers } from './model-receivers.ts';
import type { ModelledWebhooks } from './model-webhook-store.ts';
import { recordSteps } from './record-steps.ts';
import type { WebhooksState } from './webhooks-state.ts';

export type WebhookStep = DrawnStep<WebhooksState, ModelledWebhooks>;
type Bind = WebhookStep['bind'];

export const ACCOUNTS = ['acme', 'rival'] as const;
export const ENDPOINT_IDS = ['whe_1', 'whe_2', 'whe_3', 'whe_4', 'whe_5', 'whe_6'] as const;
const EVENT_IDS = Array.from({ length: 40 }, (_, index) => `evt_${String(index + 1).padStart(2, '0')}`);
const URLS = ['https://one.example/a', 'https://one.example/b?c=d', 'https://two.example:8443/', 'nowhere'] as const;
const SECRET_OWNERS = [...ENDPOINT_IDS, 'default:acme', 'default:rival'] as const;
const ALL = 100;
/** Longer than a sequence. */
const SINCE_EVER_MS = 100_000_000;
const ONE_UNAIMED_OF = 6;

const accountId = fc.constantFrom(...ACCOUNTS, 'acme');
const endpointId = fc.constantFrom(...ENDPOINT_IDS, 'default', 'default');
const soonMs = fc.integer({ min: 0, max: 4000 });
const longMs = fc.constantFrom(0, 2000, 10_000, 100_000);
const limit = fc.constantFrom(1, 2, ALL);
const nothing = fc.constant(undefined);
const { plain, aim } = newCallDraws<WebhooksState, ModelledWebhooks>(ONE_UNAIMED_OF);

const types = fc.oneof(
  { weight: 3, arbitrary: fc.constant(EVENT_TYPES) },
  { weight: 1, arbitrary: fc.uniqueArray(fc.constantFrom(...EVENT_TYPES), { minLength: 1, maxLength: 3 }) },
);

/** An endpoint and its account. Any: also one that there is not, or of another account. */
const endpoints: Aims<WebhooksState, { readonly id: string; readonly accountId: string }> = {
  meant: (state) => state.endpoints,
  any: () => ENDPOINT_IDS.flatMap((id) => ACCOUNTS.map((account) => ({ id, accountId: account }))),
};

const addEndpoint = plain(
  fc.record({
    accountId,
    eventTypes: types,
    max: fc.constantFrom(1, 3, 20, 20),
    disabled: fc.constantFrom(undefined, undefined, undefined, { at: 1, reason: 'failing' } as const),
  }),
  ({ accountId: account, eventTypes, max, disabled }, { begun }) => {
    const id = ENDPOINT_IDS.find((one) => !begun.includes(one)) ?? '';
    return {
      name: `addEndpoint ${id} ${JSON.stringify({ account, eventTypes, max, disabled })}`,
      begins: id,
      isAllowed: () => id !== '',
      call: (store, at) =>
        store.addEndpoint(
          anEndpoint(id, { accountId: account, eventTypes, disabled, createdAt: at, updatedAt: at }),
          aSecret(id, { accountId: account, createdAt: at, updatedAt: at }),
          max,
        ),
    };
  },
);

const settings = fc.record(
  { name: fc.constantFrom('site', 'shop'), url: fc.constantFrom(...URLS), eventTypes: types },
  { requiredKeys: [] },
);
/** `enabled` decides what becomes of the pending deliveries. */
function changeEndpoint(enabled: Arbitrary<boolean | undefined>): Arbitrary<Bind> {
  return aim(
    endpoints,
    fc.tuple(fc.oneof(fc.constant({}), settings), enabled),
    ({ id, accountId: account }, [changes, isEnabled]) => ({
      name: `updateEndpoint ${account} ${id} ${JSON.stringify({ ...changes, enabled: isEnabled })}`,
      call: (store, at) => store.updateEndpoint(account, id, { ...changes, enabled: isEnabled, at }),
    }),
  );
}
const removeEndpoint = aim(endpoints, nothing, ({ id, accountId: account }) => ({
  name: `removeEndpoint ${account} ${id}`,
  call: (store, at) => store.removeEndpoint(account, id, at),
}));

const secrets: readonly Arbitrary<Bind>[] = [
  plain(fc.tuple(fc.constantFrom(...SECRET_OWNERS), fc.constantFrom('new', 'newer')), ([ownerId, sealed]) => ({
    name: `addSecret ${ownerId} ${sealed}`,
    call: (store, at) => store.addSecret(aSecret(ownerId, { sealed, createdAt: at, updatedAt: at })),
  })),
  aim(
    { meant: ({ secrets: kept }) => kept, any: () => SECRET_OWNERS.map((ownerId) => aSecret(ownerId)) },
    fc.record({
      sealed: fc.constantFrom('again', 'rotated'),
      isRotated: fc.boolean(),
      isLate: fc.constantFrom(false, false, true),
      ms: soonMs,
    }),
    ({ ownerId, sealed: kept }, { sealed, isRotated, isLate, ms }) => {
      const was = isLate ? 'replaced meanwhile' : kept;
      return {
        name: `replaceSecret ${ownerId} "${was}" by "${sealed}" ${JSON.stringify({ isRotated, ms })}`,
        call: (store, at) => {
          const old = isRotated ? { sealed: was, until: at + ms } : undefined;
          return store.replaceSecret(aSecret(ownerId, { sealed, old, updatedAt: at }), was);
        },
      };
    },
  ),
];

const event = fc.record({
  accountId,
  type: fc.constantFrom(...EVENT_TYPES),
  subjectId: fc.constantFrom('task_1', 'task_2', 'job_1'),
  url: fc.option(fc.constantFrom(...URLS), { nil: undefined }),
});
const addEvent = plain(
  fc.tuple(event, fc.constantFrom(0, 0, 1, 3000), fc.nat(ONE_UNAIMED_OF)),
  ([drawn, agoMs, known], { begun }) => {
    const next = EVENT_IDS.find((one) => !begun.includes(one)) ?? '';
    const id = known === 0 ? (begun.findLast((one) => one.startsWith('evt_')) ?? '') : next;
    return {
      name: `addEvent ${id} of ${agoMs} ms ago ${JSON.stringify(drawn)}`,
      begins: id,
      isAllowed: () => id !== '',
      call: (store, at) => store.addEvent(anEvent(id, { ...drawn, createdAt: at - agoMs, dataJson: '{"a":1}' })),
    };
  },
);
const writeEnd = plain(fc.tuple(event, fc.constantFrom(undefined, 'trace-1')), ([drawn, trace]) => ({
  name: `writeEnd ${JSON.stringify({ ...drawn, trace })}`,
  call: (store, at) =>
    store.writeEnd({ ...drawn, createdAt: at, origin: { requestId: 'req_1', trace, createdAt: at - 1 } }),
}));
const dispatch = plain(fc.constantFrom(1, 3, ALL, ALL), (most) => ({
  name: `dispatch at most ${most}`,
  call: (store, at) => store.dispatch({ now: at, limit: most }),
}));

/** A receiver is leased by one of several workers, so a lease may leave out those that another one has locked. */
const lease = plain(
  fc.record({
    worker: fc.constantFrom('worker_1', 'worker_2'),
    forMs: soonMs,
    limit,
    perAccount: fc.constantFrom(1, 2, 32, 32),
    originsPerAccount: fc.constantFrom(1, 32, 32),
    deliveries: fc.constantFrom(1, 2, 32, 32),
    failuresMax: fc.constantFrom(1, 3),
  }),
  ({ forMs, ...options }, { given }) => {
    const named = { ...options, lease: `lease_${given.length}` };
    return {
      name: `leaseReceivers for ${forMs} ms ${JSON.stringify(named)}`,
      isUnordered: true,
      // of two accounts whose receivers are due at the same moment, either may come first
      isAllowed: (state, at) => {
        const next = listNextReceivers(state, { ...named, now: at, until: at });
        const [last, first] = [next[options.limit - 1], next[options.limit]];
        return first === undefined || last?.rank !== first.rank || last.one.dueAt !== first.one.dueAt;
      },
      call: (store, at) => store.leaseReceivers({ ...named, now: at, until: at + forMs }),
    };
  },
);

/** A delivery and its account. Any: also of another account. */
const deliveries: Aims<WebhooksState, Pick<Delivery, 'id' | 'accountId'>> = {
  meant: (state) => state.deliveries,
  any: (state) => state.deliveries.map(({ id }) => ({ id, accountId: 'rival' })),
};
/** An endpoint with deliveries that have ended. Any: also one without. */
const ended: Aims<WebhooksState, Pick<Delivery, 'endpointId' | 'accountId'>> = {
  meant: ({ deliveries: some }) => [
    ...some.filter(({ state }) => state === 'failed'),
    ...some.filter(({ endedAt }) => endedAt !== undefined),
  ],
  any: () => ENDPOINT_IDS.map((id) => ({ accountId: 'acme', endpointId: id })),
};
const resend = aim(deliveries, nothing, ({ id, accountId: account }) => ({
  name: `resend ${account} ${id}`,
  call: (store, at) => store.resend(account, id, at),
}));
const resendFailed = aim(
  ended,
  fc.tuple(fc.constantFrom(2000, 100_000, SINCE_EVER_MS), limit),
  ({ accountId: account, endpointId: to }, [agoMs, most]) => ({
    name: `resendFailed ${account} ${to} since ${agoMs} ms, at most ${most}`,
    call: (store, at) => store.resendFailed({ accountId: account, endpointId: to, since: at - agoMs, limit: most }, at),
  }),
);

const retention = plain(fc.tuple(longMs, limit), ([agoMs, most]) => ({
  name: `removeOldWebhooks before ${agoMs} ms ago, at most ${most}`,
  // of two receivers that are idle since the same moment, either may be removed
  isAllowed: (state, at) => {
    const idle = listIdle(state, at - agoMs);
    return idle.length <= most || idle[most - 1]?.updatedAt !== idle[most]?.updatedAt;
  },
  call: (store, at) => store.removeOldWebhooks({ before: at - agoMs, limit: most }),
}));

const eventReads: readonly Arbitrary<Bind>[] = [
  plain(
    fc.record({
      accountId,
      types: fc.option(types, { nil: undefined }),
      subjectId: fc.option(fc.constantFrom('task_1', 'job_1'), { nil: undefined }),
      seq: fc.nat(20),
      limit,
    }),
    ({ seq, limit: most, ...filter }) => ({
      name: `eventsAfter ${seq}, at most ${most} ${JSON.stringify(filter)}`,
      call: (store) => store.eventsAfter(filter, seq, most),
    }),
  ),
  aim(
    { meant: ({ events }) => events, any: () => EVENT_IDS.map((id) => ({ id, accountId: 'rival' })) },
    nothing,
    ({ id, accountId: account }) => ({
      name: `findPlace ${account} ${id}, the last event and the last place`,
      call: async (store) => [
        await store.findPlace(account, id),
        await store.lastEvent(account),
        await store.lastPlace(),
        await store.findEvents([id, ...EVENT_IDS.slice(0, 2)]),
      ],
    }),
  ),
  plain(fc.tuple(fc.nat(20), limit), ([seq, most]) => ({
    name: `lastPlaces after ${seq}, at most ${most}`,
    isUnordered: true,
    call: (store) => store.lastPlaces(seq, most),
  })),
];
const deliveryReads: readonly Arbitrary<Bind>[] = [
  plain(
    fc.record({
      accountId,
      endpointId,
      state: fc.constantFrom(undefined, 'pending', 'delivered', 'failed'),
      which: fc.nat(ALL),
      limit,
    }),
    ({ which, limit: most, ...filter }, state) => {
      const after = state.deliveries[which]?.id;
      return {
        name: `listDeliveries ${JSON.stringify(filter)} after ${after}, at most ${most}`,
        call: (store) => store.listDeliveries(filter, { limit: most, after }),
      };
    },
  ),
  aim(deliveries, nothing, ({ id, accountId: account }) => ({
    name: `findDelivery ${account} ${id}, and its attempts`,
    call: async (store) => [await store.findDelivery(account, id), await store.listAttempts(id)],
  })),
  plain(fc.tuple(accountId, fc.constantFrom('task_1', 'job_1'), limit), ([account, subjectId, most]) => ({
    name: `listDeliveriesAbout ${account} ${subjectId}, at most ${most}`,
    call: (store) => store.listDeliveriesAbout(account, subjectId, most),
  })),
];
const endpointReads: readonly Arbitrary<Bind>[] = [
  plain(fc.tuple(accountId, fc.option(endpointId, { nil: undefined }), limit), ([account, after, most]) => ({
    name: `listEndpoints ${account} after ${after}, at most ${most}`,
    call: (store) => store.listEndpoints(account, { limit: most, after }),
  })),
  aim(endpoints, nothing, ({ id, accountId: account }) => ({
    name: `findEndpoint ${account} ${id}, its health and its secret`,
    call: async (store) => [
      await store.findEndpoint(account, id),
      await store.readHealth([id]),
      await store.findSecrets([id, 'default:acme']),
    ],
  })),
  plain(nothing, () => ({ name: 'findFirstDue', call: (store) => store.findFirstDue() })),
  plain(fc.tuple(fc.constantFrom('', ...SECRET_OWNERS), limit), ([after, most]) => ({
    name: `listSecrets after "${after}", at most ${most}`,
    call: (store) => store.listSecrets(after, most),
  })),
  plain(nothing, () => ({
    name: 'count what waits',
    call: async (store) => [
      await store.countPendingDeliveries(),
      await store.countDisabledEndpoints(),
      await store.countUndispatchedEvents(),
    ],
  })),
];

const { record, disablingRecord, repeatedRecord, flappingRecords, renew, hold, endLeases } = recordSteps({
  plain,
  aim,
});

/** Calls that wait for the locks of one another. */
const waiting = [
  { weight: 7, arbitrary: addEndpoint },
  { weight: 5, arbitrary: changeEndpoint(fc.constantFrom(undefined, true)) },
  { weight: 3, arbitrary: fc.oneof(...secrets) },
  { weight: 9, arbitrary: addEvent },
  { weight: 9, arbitrary: writeEnd },
  { weight: 32, arbitrary: record },
  { weight: 4, arbitrary: repeatedRecord },
  { weight: 3, arbitrary: renew },
  { weight: 7, arbitrary: resend },
];
/** They end what is pending for an endpoint. A dispatch at the same moment may still address it. */
const disabling = [
  { weight: 2, arbitrary: changeEndpoint(fc.constant(false)) },
  { weight: 1, arbitrary: removeEndpoint },
  { weight: 1, arbitrary: disablingRecord },
];
const dispatching = { weight: 14, arbitrary: dispatch };
const others = [
  // it wakes receivers also if their deliveries end at the same moment
  { weight: 6, arbitrary: resendFailed },
  { weight: 24, arbitrary: lease },
  { weight: 2, arbitrary: retention },
  { weight: 1, arbitrary: endLeases },
  { weight: 2, arbitrary: flappingRecords },
  { weight: 1, arbitrary: hold },
  { weight: 3, arbitrary: fc.oneof(...eventReads) },
  { weight: 4, arbitrary: fc.oneof(...deliveryReads) },
  { weight: 2, arbitrary: fc.oneof(...endpointReads) },
];

const afterMs = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 2000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 30_000, max: 90_000 }) },
  { weight: 1, arbitrary: fc.constant(-10_000) },
);

function drawSteps(bind: Arbitrary<Bind>): Arbitrary<WebhookStep> {
  return fc.record({ bind, afterMs, by: fc.constantFrom<0 | 1>(0, 1) });
}

/** Any call of the port, by one of two processes. */
export const drawWebhookStep: Arbitrary<WebhookStep> = drawSteps(
  fc.oneof(...waiting, ...disabling, dispatching, ...others),
);

const locking = drawSteps(fc.oneof(...waiting, ...disabling));
const beside = drawSteps(fc.oneof(...waiting, dispatching));
const [adding, recording, dispatchingStep] = [drawSteps(addEndpoint), drawSteps(record), drawSteps(dispatch)];

/** Two calls of which one waits for the locks of the other. Those that meet on one row most often have their own. */
export const drawLockingWebhookSteps: Arbitrary<readonly [WebhookStep, WebhookStep]> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(locking, locking) },
  { weight: 3, arbitrary: fc.tuple(recording, locking) },
  { weight: 3, arbitrary: fc.tuple(dispatchingStep, beside) },
  { weight: 1, arbitrary: fc.tuple(dispatchingStep, dispatchingStep) },
  { weight: 1, arbitrary: fc.tuple(adding, adding) },
);
