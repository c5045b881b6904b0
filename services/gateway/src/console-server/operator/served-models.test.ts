import { expect, test } from '@jest/globals';
import type { ChannelStatus } from '@reelgate/proto/tasks/v1/operator_service';
import { aChannel, pausedBy } from '../../../testing/an-activity.ts';
import { findUnserved } from './served-models.ts';

const GENERATION = 'video.generation';
const REGENERATION = 'video.regeneration';

function channel(id: string, changes: Parameters<typeof aChannel>[0] = {}): ChannelStatus {
  return aChannel({ id, ...changes });
}
const paused = pausedBy('ada');
const group = (why: string, endpoints = [GENERATION], models = ['A']) => ({ models, more: 0, endpoints, why });

test.each<[string, ChannelStatus[], ReturnType<typeof group>[]]>([
  ['none without a channel', [], []],
  ['none while its channel is in use', [channel('one')], []],
  ['none while another channel is in use', [channel('one', paused), channel('two')], []],
  ['none while its channel is being tried again', [channel('one', { circuit: 'half_open' })], []],
  ['one whose channel is paused', [channel('one', paused)], [group('one is paused by ada')]],
  [
    'one whose channel has failed',
    [channel('one', { circuit: 'open' })],
    [group('one gets no work, because it failed')],
  ],
  ['one whose channel is disabled', [channel('one', { enabled: false })], [group('one is disabled')]],
  [
    'one whose channels are all out of use, each for its own reason',
    [channel('one', paused), channel('two', { circuit: 'open' }), channel('three', { enabled: false })],
    [group('one is paused by ada; two gets no work, because it failed; three is disabled')],
  ],
  [
    'one at the endpoint that only a paused channel has',
    [channel('one', { ...paused, endpoints: [GENERATION, REGENERATION] }), channel('two')],
    [group('one is paused by ada', [REGENERATION])],
  ],
  [
    'one at all endpoints of its paused channel together',
    [channel('one', { ...paused, endpoints: [GENERATION, REGENERATION] })],
    [group('one is paused by ada', [GENERATION, REGENERATION])],
  ],
  [
    'the models of a paused channel together, without the one that another channel has',
    [channel('one', { ...paused, models: ['A', 'B', 'C'] }), channel('two', { models: ['B'] })],
    [group('one is paused by ada', [GENERATION], ['A', 'C'])],
  ],
])('models that no channel serves: %s', (_what, channels, groups) => {
  const { models, groups: found } = findUnserved(channels);
  expect([models, found]).toEqual([new Set(groups.flatMap((one) => one.models)).size, groups]);
});

test('of many models with one reason ten are named, and of many reasons ten', () => {
  const models = Array.from({ length: 300 }, (_, index) => `model-${index}`);
  const one = findUnserved([channel('one', { ...paused, models })]);
  const many = findUnserved(models.map((model) => channel(`of ${model}`, { ...paused, models: [model] })));

  expect(one).toMatchObject({ models: 300, groups: [{ more: 290, models: models.slice(0, 10) }] });
  expect([many.models, many.groups.length]).toEqual([300, 10]);
});
