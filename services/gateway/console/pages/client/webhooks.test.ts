import { describe, expect, test } from '@jest/globals';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Delivery, Endpoint } from '../../api/webhooks.ts';
import { T0 } from '../../testing/a-task.ts';
import { textOf } from '../../testing/text-of.ts';
import { EndpointDeliveries, EndpointHead } from './webhook-endpoint.tsx';
import { DeliveryPage } from './webhook-delivery.tsx';
import { EndpointsPage } from './webhooks.tsx';

const AT = new Date(T0).toISOString();
const nothing = (): void => undefined;

const endpoint: Endpoint = {
  id: 'whe_1',
  name: 'studio',
  accountId: 'demo',
  url: 'https://studio.example/hook',
  eventTypes: ['video.completed'],
  payload: 'WEBHOOK_PAYLOAD_THIN',
  secretHint: 'whsec_A…z',
  disabledReason: '',
};
const delivery: Delivery = {
  id: 'whd_1',
  endpointId: 'whe_1',
  url: endpoint.url,
  eventId: 'evt_1',
  eventType: 'video.completed',
  subjectId: 'task_1',
  state: 'WEBHOOK_DELIVERY_STATE_FAILED',
  attemptCount: 1,
  lastStatusCode: 500,
  lastError: 'status',
  createdAt: AT,
  attempts: [
    {
      ...{ number: 1, at: AT, durationMs: '12', statusCode: 500, error: 'status' },
      ...{ requestHeaders: {}, answerHead: '<i>no</i>' },
    },
  ],
};
const list = { eventTypes: ['video.completed', 'video.failed', 'job.completed'], canChange: true };

const listed = (over: Partial<Endpoint> = {}, canChange = true): string =>
  textOf(
    renderToString(
      h(EndpointsPage, { list: { ...list, canChange, endpoints: [{ ...endpoint, ...over }] }, onChanged: nothing }),
    ),
  );
const headed = (over: Partial<Endpoint> = {}, canChange = true): string =>
  textOf(
    renderToString(
      h(EndpointHead, {
        view: { ...list, canChange, endpoint: { ...endpoint, ...over }, deliveries: [] },
        onChanged: nothing,
      }),
    ),
  );
const deliveryPage = (over: Partial<Delivery> = {}, canChange = true): string =>
  renderToString(h(DeliveryPage, { view: { delivery: { ...delivery, ...over }, canChange }, onChanged: nothing }));

test.each([
  ['Nothing sent yet', {}],
  ['Working', { lastSuccessAt: AT }],
  ['Failing for', { lastSuccessAt: AT, failingSince: AT }],
  ['wants no more events', { failingSince: AT, disabledAt: AT, disabledReason: 'gone' }],
  ['Nothing but failures for five days.', { disabledAt: AT, disabledReason: 'failing' }],
  ['disabled by hand', { disabledAt: AT, disabledReason: 'by_owner' }],
])('an endpoint is told as: %s', (words, over) => {
  expect(listed(over)).toContain(words);
  expect(headed(over)).toContain(words);
});

test('the URLs of requests have no health of their own', () => {
  expect(listed({ id: 'default', name: '', url: '' })).not.toContain('Nothing sent yet');
});

describe('a token that may only see webhooks', () => {
  test('is told so, and offered nothing that it may not do', () => {
    for (const text of [listed({}, false), headed({}, false), textOf(deliveryPage({}, false))])
      expect(text).toContain('may see webhooks and not change them');
    expect(listed({}, false)).not.toContain('Create endpoint');
    expect(headed({}, false)).not.toContain('Rotate secret');
    expect(deliveryPage({}, false)).not.toContain('Send again');
  });
});

describe('an endpoint', () => {
  test('is changed, tried, disabled and deleted on its page', () => {
    expect(headed()).toContain('Change Send test Disable Rotate secret Resend failed Delete');
  });

  test('that is disabled has to be enabled before anything is sent to it again', () => {
    const text = headed({ disabledAt: AT, disabledReason: 'by_owner' });

    expect(text).toContain('Change Send test Enable Rotate secret Delete');
    expect(text).toContain('Enable the endpoint to send its failed deliveries again.');
  });

  test('of request URLs has a secret and deliveries, and nothing else', () => {
    expect(headed({ id: 'default', name: '', url: '' })).toMatch(/whsec_A…z Rotate secret Resend failed$/);
  });
});

describe('the deliveries of an endpoint', () => {
  const rows = (deliveries: readonly Delivery[], query = ''): string =>
    renderToString(
      h(EndpointDeliveries, {
        view: { ...list, endpoint, deliveries, after: 'whd_1' },
        query: new URLSearchParams(query),
      }),
    );

  test('say what the receiver answered last, or why it did not', () => {
    const text = textOf(rows([delivery, { ...delivery, id: 'whd_2', lastStatusCode: 0, lastError: 'timeout' }]));

    expect(text).toContain('task_1 500 1');
    expect(text).toContain('no answer: it took more than 15 s');
  });

  test('keep the filter on the way to older ones', () => {
    expect(rows([delivery], 'state=failed')).toContain('href="/console/webhooks/whe_1?state=failed&amp;after=whd_1"');
  });
});

describe('a delivery', () => {
  test('shows what a receiver answered as text', () => {
    const markup = deliveryPage();

    expect(markup).toContain('&lt;i>no&lt;/i>');
    expect(textOf(markup)).toContain('Attempt 1 ✕ Answered 500 in 12 ms');
  });

  test.each([
    [
      'Accepted at attempt 2.',
      { state: 'WEBHOOK_DELIVERY_STATE_DELIVERED', attemptCount: 2, lastStatusCode: 204, lastError: '' },
    ],
    ['Given up: 500.', {}],
    ['Given up: 500: the endpoint was disabled.', { lastError: 'endpoint_disabled' }],
    [
      '1 attempt. Next attempt: due now',
      { state: 'WEBHOOK_DELIVERY_STATE_PENDING', nextAttemptAt: '1970-01-01T00:00:00Z' },
    ],
  ] as const)('says in words what became of it: %s', (words, over) => {
    expect(textOf(deliveryPage(over))).toContain(words);
  });
});
