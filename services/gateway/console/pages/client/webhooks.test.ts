import { describe, expect, test } from '@jest/globals';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Delivery, Endpoint } from '../../api/webhooks.ts';
import { T0 } from '../../testing/a-task.ts';
import { textOf } from '../../testing/text-of.ts';
import { DeliveryPage } from './webhook-delivery.ts';
import { EndpointPage } from './webhook-endpoint.ts';
import { EndpointsPage } from './webhooks.ts';

const nothing = (): void => undefined;

const endpoint: Endpoint = {
  id: 'whe_1',
  name: 'studio',
  url: 'https://studio.example/hook',
  eventTypes: ['video.completed'],
  payload: 'thin',
  secretHint: 'whsec_A…z',
};
const delivery: Delivery = {
  id: 'whd_1',
  endpointId: 'whe_1',
  url: endpoint.url,
  eventId: 'evt_1',
  eventType: 'video.completed',
  subjectId: 'task_1',
  state: 'failed',
  attemptCount: 1,
  lastStatus: 500,
  lastError: 'status',
  createdAt: T0,
  attempts: [
    { number: 1, at: T0, durationMs: 12, status: 500, error: 'status', requestHeaders: {}, answer: '<i>no</i>' },
  ],
};
const list = { eventTypes: ['video.completed', 'video.failed', 'job.completed'], canChange: true };

describe('webhooks', () => {
  test('say why an endpoint hears nothing', () => {
    const endpoints = [{ ...endpoint, disabledAt: T0, disabledReason: 'gone' }];
    const text = textOf(renderToString(h(EndpointsPage, { list: { ...list, endpoints }, onChanged: nothing })));

    expect(text).toContain('✕ Disabled');
    expect(text).toContain('The receiver answered 410.');
  });

  test('can be changed by a token with the right alone', () => {
    const page = (canChange: boolean, over: Partial<Endpoint> = {}): string =>
      textOf(
        renderToString(
          h(EndpointPage, {
            view: { ...list, canChange, endpoint: { ...endpoint, ...over }, deliveries: [delivery] },
            query: new URLSearchParams(),
            onChanged: nothing,
          }),
        ),
      );

    expect(page(true)).toContain('Change Send test Disable Rotate secret Resend failed Delete');
    expect(page(true, { id: 'default' })).not.toContain('Delete');
    expect(page(false)).not.toContain('Rotate secret');
    expect(page(false)).toContain('task_1 500 1');
  });

  test('show what a receiver answered as text', () => {
    const markup = renderToString(h(DeliveryPage, { view: { delivery, canChange: true }, onChanged: nothing }));

    expect(markup).toContain('&lt;i>no&lt;/i>');
    expect(textOf(markup)).toContain('Attempt 1 ✕ Answered 500 in 12 ms');
    expect(textOf(markup)).toContain('Send again');
  });
});
