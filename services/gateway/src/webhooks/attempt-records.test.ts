import { describe, expect, test } from '@jest/globals';
import { silentLog } from '@reelgate/platform/log';
import { Problem } from '@reelgate/platform/problem';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { unavailable } from '../../testing/a-webhook-fixture.ts';
import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { MadeWebhookAttemptSchema, WebhookReceiverRecordSchema } from '@reelgate/proto/tasks/v1/webhook_service';
import type { MadeWebhookAttempt, WebhookReceiverRecord } from '@reelgate/proto/tasks/v1/webhook_service';
import { openAttemptRecords } from './attempt-records.ts';
import type { AttemptRecords } from './attempt-records.ts';

const attempt = (deliveryId: string): MadeWebhookAttempt => create(MadeWebhookAttemptSchema, { deliveryId });
type RecordInit = Exclude<MessageInitShape<typeof WebhookReceiverRecordSchema>, WebhookReceiverRecord>;
const aRecord = (over: RecordInit = {}): WebhookReceiverRecord =>
  create(WebhookReceiverRecordSchema, { receiverId: 'whe_1', lease: 'lease_1', ...over });
const refusal = (): Problem => new Problem({ kind: 'invalid', reason: 'invalid_request', message: 'is too long' });

interface World {
  readonly clock: FakeClock;
  readonly records: AttemptRecords;
  /** The requests, refused ones included. */
  readonly requests: (readonly WebhookReceiverRecord[])[];
}

/** Each request is answered by the next of these; what follows is taken. */
function opened(...answers: readonly ((request: readonly WebhookReceiverRecord[]) => readonly string[])[]): World {
  const clock = fakeClock();
  const requests: (readonly WebhookReceiverRecord[])[] = [];
  const record = async (request: readonly WebhookReceiverRecord[]): Promise<readonly string[]> =>
    answers[requests.push(request) - 1]?.(request) ?? [];
  return { clock, requests, records: openAttemptRecords({ record, clock, log: silentLog }) };
}
const fails = (): never => {
  throw unavailable();
};

describe('records', () => {
  test('of the same moment are one request, with one record for each receiver', async () => {
    const { clock, records, requests } = opened();
    const all = Promise.all([
      records.add(aRecord({ attempts: [attempt('a')] })),
      records.add(aRecord({ receiverId: 'whe_2', lease: 'lease_2', attempts: [attempt('b')] })),
      records.add(aRecord({ attempts: [attempt('c')] })),
      records.add(aRecord({ returned: true })),
    ]);
    await clock.advance(24);
    expect(requests).toEqual([]);
    await clock.advance(1);

    expect(await all).toEqual([true, true, true, true]);
    expect(requests).toEqual([
      [
        aRecord({ attempts: [attempt('a'), attempt('c')], returned: true }),
        aRecord({ receiverId: 'whe_2', lease: 'lease_2', attempts: [attempt('b')] }),
      ],
    ]);
  });

  test('of two leases of one receiver are two requests, in their order', async () => {
    const { clock, records, requests } = opened();
    void records.add(aRecord({ returned: true }));
    void records.add(aRecord({ lease: 'lease_2' }));
    await clock.advance(25);

    expect(requests).toEqual([[aRecord({ returned: true })], [aRecord({ lease: 'lease_2' })]]);
  });

  test('of more than 64 receivers are several requests', async () => {
    const { clock, records, requests } = opened();
    for (let at = 0; at < 130; at += 1) void records.add(aRecord({ receiverId: `whe_${at}` }));
    await clock.advance(25);

    expect(requests.map(({ length }) => length)).toEqual([64, 64, 2]);
  });

  test('that come while a request is under way follow it', async () => {
    const { promise, resolve } = Promise.withResolvers<readonly string[]>();
    const requests: (readonly WebhookReceiverRecord[])[] = [];
    const clock = fakeClock();
    const record = (request: readonly WebhookReceiverRecord[]): Promise<readonly string[]> => {
      requests.push(request);
      return promise;
    };
    const records = openAttemptRecords({ record, clock, log: silentLog });
    void records.add(aRecord({ attempts: [attempt('a')] }));
    await clock.advance(25);
    void records.add(aRecord({ returned: true }));
    await clock.advance(1000);
    expect(requests).toHaveLength(1);
    resolve([]);
    await clock.advance(0);
    await clock.advance(25);

    expect(requests[1]).toEqual([aRecord({ returned: true })]);
  });

  test('say which leases had ended', async () => {
    const { clock, records } = opened(() => ['whe_2']);
    const all = Promise.all([records.add(aRecord()), records.add(aRecord({ receiverId: 'whe_2' }))]);
    await clock.advance(25);

    expect(await all).toEqual([true, false]);
  });

  test('are repeated while the tasks service is away', async () => {
    const { clock, records, requests } = opened(fails, fails, fails);
    const written = records.add(aRecord({ attempts: [attempt('a')] }));
    for (const ms of [25, 100, 200, 400]) await clock.advance(ms);

    expect(await written).toBe(true);
    expect(requests).toHaveLength(4);
    expect(requests[3]).toEqual(requests[0]);
  });

  test('are given up after 30 s', async () => {
    const { clock, records, requests } = opened(...Array.from({ length: 100 }, () => fails));
    const begin = clock.now();
    let answer: boolean | undefined;
    void records.add(aRecord()).then((written) => (answer = written));
    while (answer === undefined && clock.now() - begin < 60_000) await clock.advance(100);

    expect(answer).toBe(false);
    expect(clock.now() - begin).toBeLessThanOrEqual(30_100);
    expect(requests.length).toBeLessThan(20);
  });

  test('are not repeated once they are stopped', async () => {
    const { clock, records, requests } = opened(fails, fails);
    const written = records.add(aRecord());
    await clock.advance(25);
    records.stop();

    expect(await written).toBe(false);
    expect(await records.add(aRecord({ returned: true }))).toBe(true);
    expect(requests).toHaveLength(3);
  });

  test('of others are written if one is refused', async () => {
    const refuseSecond = (request: readonly WebhookReceiverRecord[]): readonly string[] => {
      if (request.some(({ receiverId }) => receiverId === 'whe_2')) throw refusal();
      return [];
    };
    const { clock, records, requests } = opened(...Array.from({ length: 4 }, () => refuseSecond));
    const all = Promise.all(['whe_1', 'whe_2', 'whe_3'].map((receiverId) => records.add(aRecord({ receiverId }))));
    await clock.advance(25);

    expect(await all).toEqual([true, false, true]);
    expect(requests.map(({ length }) => length)).toEqual([3, 1, 1, 1]);
  });
});
