import { expect, test } from '@jest/globals';
import { anAttempt } from '../../../testing/an-attempt.ts';
import { toAttempt } from '../adapter-channel.ts';
import type { AttemptItem, PlannedAttempt } from '../channel.ts';
import { toMark } from './ark.extra.ts';
import { ark } from './ark.ts';

const calls = ark.openCalls({ options: {} });
const REFERENCE: AttemptItem = { media: 'image', role: 'reference_image', url: '' };

test.each<[string, Partial<PlannedAttempt>, object]>([
  ['a draft that is not in 480p', { resolution: '720P' }, { draft: true }],
  ['frames that no video can have', { duration: 5 }, { frames: 58 }],
  ['more frames than the seconds that are charged', { duration: 5 }, { frames: 121 }],
  ['frames of an order without seconds', { duration: undefined }, { frames: 29 }],
])('%s goes to another channel', (_what, order, extra) => {
  const planned = anAttempt({ model: 'ep-1', ...order, extraJson: JSON.stringify(extra) });

  expect(calls.buildSubmit(toAttempt(ark, planned))).toEqual({ unfit: expect.any(String) });
});

test('as many frames as the seconds that are charged are sent in their place', () => {
  const planned = anAttempt({ model: 'ep-1', duration: 5, extraJson: '{"frames":117}' });

  expect(calls.buildSubmit(toAttempt(ark, planned))).toMatchObject({ json: { frames: 117 } });
  expect(calls.buildSubmit(toAttempt(ark, planned))).not.toHaveProperty('json.duration');
});

test.each<[string, readonly AttemptItem[], readonly string[]]>([
  [
    'doubao-seedance-1-0-pro-250528',
    [],
    ['camera_fixed', 'execution_expires_after', 'frames', 'return_last_frame', 'seed', 'service_tier', 'watermark'],
  ],
  [
    'seedance-1-0-lite-i2v-250428',
    [REFERENCE],
    ['execution_expires_after', 'frames', 'return_last_frame', 'seed', 'service_tier', 'watermark'],
  ],
  [
    'seedance-1-5-pro-251215',
    [],
    [
      'camera_fixed',
      'draft',
      'execution_expires_after',
      'generate_audio',
      'return_last_frame',
      'seed',
      'service_tier',
      'watermark',
    ],
  ],
  [
    'dreamina-seedance-2-0-fast-260128',
    [],
    ['execution_expires_after', 'generate_audio', 'return_last_frame', 'watermark'],
  ],
  [
    'doubao-seedance-2-5-260915',
    [],
    ['draft', 'execution_expires_after', 'generate_audio', 'return_last_frame', 'watermark'],
  ],
  ['ep-20260901-abcde', [], Object.keys(ark.extraFields ?? {}).toSorted()],
])('the model %s takes the fields of its page', (model, content, fields) => {
  expect(calls.listExtra?.({ kind: 'generation', model, content }).toSorted()).toEqual(fields);
});

test('attempts have marks from one day to two, and few share one', () => {
  const marks = Array.from({ length: 1000 }, (_, number) => toMark(`task_${number}-1`));

  expect(Math.min(...marks)).toBeGreaterThanOrEqual(86_400);
  expect(Math.max(...marks)).toBeLessThan(172_800);
  expect(new Set(marks).size).toBeGreaterThan(980);
});
