import { expect, test } from '@jest/globals';
import { silentLog } from '@reelgate/platform/log';
import { currentRequestId, currentTraceId } from '@reelgate/platform/request-context';
import { keepingTracing } from '@reelgate/platform/testing/keeping-tracing';
import { untilAfter } from '@reelgate/platform/testing/until';
import { aWebhookFixture, anAnswer, unavailable } from '../../testing/a-webhook-fixture.ts';
import type { DeliveryInit, Receiver } from '../../testing/a-webhook-fixture.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CARRIER = `00-${TRACE}-00f067aa0ba902b7-01`;
const RECORDED = { requestId: 'req-1', trace: CARRIER };
const REFUSES: Receiver = async () => anAnswer({ statusCode: 503 });
const HANGS: Receiver = async () => anAnswer({ statusCode: 0, fault: 'timeout' });
const TAKES: Receiver = async () => anAnswer({ statusCode: 204 });

/** Delivers one event, and returns its spans and its lines in the log. */
async function deliver(origin: DeliveryInit, receiver: Receiver = TAKES) {
  const world = aWebhookFixture();
  const { tracing, spans } = keepingTracing({ creates: 0, calls: 0, reads: 0 });
  const lines: object[] = [];
  const write = (fields: object, msg: string): void =>
    void lines.push({ ...fields, msg, requestId: currentRequestId(), trace_id: currentTraceId() });
  world.sender.receivers.set('one', receiver);
  world.work.queue('one', 1, origin);
  const pool = world.start({ tracing, log: { ...silentLog, info: write, warn: write } });
  await untilAfter(world.clock, () => world.work.due() === 0);
  await pool.stop(AbortSignal.abort());
  return { spans: spans(), lines, sent: world.sender.spans };
}

test('a delivery has a span in the trace of its task, and the call to media goes on from it', async () => {
  const { spans, sent } = await deliver(RECORDED);

  expect(spans).toMatchObject([
    { name: 'deliver webhook', kind: 'client', traceId: TRACE, parentSpanId: '00f067aa0ba902b7', failed: false },
  ]);
  expect(spans[0]!.attributes).toEqual({
    'reelgate.task.id': 'task_1',
    'reelgate.account.id': 'demo',
    'reelgate.event.id': 'evt_one-1',
    'reelgate.event.type': 'video.completed',
    'reelgate.webhook.delivery.id': 'one-1',
    'reelgate.webhook.attempt': 1,
    'http.response.status_code': 204,
  });
  expect(sent.map((span) => span?.carrier)).toEqual([`00-${TRACE}-${spans[0]!.spanId}-01`]);
});

test('a delivery of work that is too old has a trace of its own, linked to the first', async () => {
  const { spans, lines } = await deliver({ requestId: 'req-1', linkedTrace: CARRIER });

  expect(spans).toMatchObject([
    { name: 'deliver webhook', parentSpanId: '', links: [{ traceId: TRACE, spanId: '00f067aa0ba902b7' }] },
  ]);
  expect(spans[0]!.traceId).not.toBe(TRACE);
  expect(spans[0]!.attributes).toMatchObject({ 'reelgate.link.type': 'continues' });
  expect(lines).toMatchObject([{ trace_id: spans[0]!.traceId }]);
});

test('a delivery of work that is not recorded has no span, and has its line', async () => {
  const { spans, lines } = await deliver({ requestId: 'req-1' });

  expect(spans).toEqual([]);
  expect(lines).toMatchObject([{ taskId: 'task_1', eventId: 'evt_one-1', requestId: 'req-1', trace_id: undefined }]);
});

test.each([
  ['that takes it', TAKES, { status: 204, error: '', msg: 'a webhook was delivered' }, undefined],
  ['that refuses it', REFUSES, { status: 503, error: 'status', msg: 'a receiver did not take a webhook' }, 'status'],
  ['that hangs', HANGS, { status: 0, error: 'timeout', msg: 'a receiver did not take a webhook' }, 'timeout'],
])(
  'a delivery to a receiver %s has one line, and its span says how it ended',
  async (_what, receiver, line, failed) => {
    const { spans, lines } = await deliver(RECORDED, receiver);

    expect(lines).toEqual([
      {
        receiverId: 'one',
        taskId: 'task_1',
        eventId: 'evt_one-1',
        deliveryId: 'one-1',
        attempt: 1,
        durationMs: 5,
        requestId: 'req-1',
        trace_id: TRACE,
        ...line,
      },
    ]);
    expect(spans.map(({ attributes }) => attributes['error.type'])).toEqual([failed]);
  },
);

test('while media is away the warning names task, event and trace, and the delivery is made later', async () => {
  let isAway = true;
  const { spans, lines } = await deliver(RECORDED, async () => {
    if (!isAway) return anAnswer();
    isAway = false;
    throw unavailable();
  });

  const about = { taskId: 'task_1', eventId: 'evt_one-1', requestId: 'req-1', trace_id: TRACE };
  expect(lines).toMatchObject([
    { ...about, msg: 'a webhook could not be sent' },
    { ...about, msg: 'a webhook was delivered' },
  ]);
  expect(spans.map(({ attributes }) => attributes['error.type'])).toEqual(['service_unavailable', undefined]);
});
