import { expect, test } from '@jest/globals';
import { MODELS, aContextIr, aRegeneration, anOrder } from '../../../testing/orders.ts';
import type { Order } from '../order.ts';
import { validateOrder } from './validate-order.ts';

test.each<[operation: string, field: string, order: Order]>([
  ['generation', 'aigc_watermark', anOrder({ aigcWatermark: true })],
  ['generation', 'callback_url', anOrder({ callbackUrl: 'https://a.example' })],
  ['regeneration', 'duration', aRegeneration({ duration: 5 })],
  ['regeneration', 'ratio', aRegeneration({ ratio: '16:9' })],
  ['regeneration', 'callback_url', aRegeneration({ callbackUrl: '' })],
  ['context-IR', 'resolution', aContextIr({ resolution: '768P' })],
  ['context-IR', 'aigc_watermark', aContextIr({ aigcWatermark: false })],
  ['context-IR', 'source_task_id', aContextIr({ sourceTaskId: 'task_1' })],
])('an order for %s is refused with the field %s of another operation', (operation, field, order) => {
  expect(validateOrder(order, MODELS, ['*'])).toEqual({
    reason: 'unknown_field',
    field,
    message: `is not a field of ${operation}; remove it`,
  });
});
