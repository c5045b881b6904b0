import { describe, expect, test } from '@jest/globals';
import type { ExtraFields } from '@reelgate/adapter-kit';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { refused } from '../../../testing/fake-upstream.ts';
import { useWorlds } from '../../../testing/open-world.ts';
import type { World } from '../../../testing/open-world.ts';
import { anOrder } from '../../../testing/orders.ts';
import { fill, useQueueWorlds } from '../../../testing/queue-world.ts';
import { checkCreate, estimateOrder } from './check-create.ts';

const open = useWorlds();
const openQueue = useQueueWorlds();

const SEED: ExtraFields = { seed: { type: 'whole', least: 0, most: 9 } };
const WIDER: ExtraFields = { seed: { type: 'whole', least: 0, most: 99 }, style: { type: 'text', charactersMax: 9 } };
/** `first` takes nothing and comes first, then `second`, then `third`. */
const TAKES: Readonly<Record<string, ExtraFields>> = { first: {}, second: SEED, third: WIDER };
const CHANNELS = Object.keys(TAKES).map((id, at) => channelSettings({ id, priority: -at }));

async function openThree(ids = Object.keys(TAKES)): Promise<World> {
  const world = await open({ channels: CHANNELS.filter(({ id }) => ids.includes(id)) });
  world.upstream.extraFields = new Map(Object.entries(TAKES));
  return world;
}

const withExtra = (extra: object, optionalExtra?: readonly string[]) =>
  anOrder({ extraJson: JSON.stringify(extra), ...(optionalExtra && { optionalExtra }) });
const caller = {
  accountId: 'acme',
  visibleModels: ['*'],
  wait: {},
  tokenWait: { for: 'channels', class: 'standard' },
} as const;
const sentTo = (world: World): string[] => world.upstream.submitted.map(({ channel }) => channel);

test('a choice that can have a price of its own is told to billing, in the estimate and in the hold', async () => {
  const world = await openThree();
  world.upstream.extraFields = new Map([['second', { ...SEED, sound: { type: 'flag', isPriced: true } }]]);
  const order = withExtra({ sound: false, seed: 7 });

  const { facts } = await estimateOrder(world.deps, { ...caller, order });
  await world.create(order);

  expect(facts.choices).toEqual(['sound_false']);
  expect([...world.billing.holds.values()].map((hold) => hold.facts?.choices)).toEqual([['sound_false']]);
});

describe('an extra field goes only to a channel that takes it', () => {
  test.each<[string, object, readonly string[]]>([
    ['none', {}, ['first']],
    ['one that two take', { seed: 7 }, ['second']],
    ['a value that one takes', { seed: 70 }, ['third']],
    ['two that one takes', { style: 'noir', seed: 7 }, ['third']],
    ['who asks, which changes no video', { user: 'me' }, ['first']],
    ['one that is null', { seed: null }, ['first']],
  ])('%s', async (_what, extra, channels) => {
    const world = await openThree();

    await world.create(withExtra(extra));

    expect(sentTo(world)).toEqual(channels);
    expect(world.upstream.submitted[0]?.attempt.extraJson).toBe(JSON.stringify(extra));
  });

  test('also when a channel refuses it and the next one is tried', async () => {
    const world = await openThree();
    world.upstream.answer('second', refused('channel'));

    await world.create(withExtra({ seed: 7 }));

    expect(sentTo(world)).toEqual(['second', 'third']);
  });

  test('and it waits in the lane of those channels, past one that is free', async () => {
    const world = await openQueue({ channels: CHANNELS.map((channel) => ({ ...channel, inFlightMax: 1 })) });
    world.upstream.extraFields = new Map(Object.entries({ ...TAKES, third: {} }));
    await fill(world);
    expect(sentTo(world)).toEqual(['first']);
    await world.create(withExtra({ seed: 1 }));

    const { task } = await world.create(withExtra({ seed: 7 }));

    expect(task.admission).toBe('waiting');
    expect(sentTo(world)).toEqual(['first', 'second']);
  });
});

describe('an extra field that no channel takes is refused by its name, before anything is written', () => {
  test.each<[string, object, object]>([
    ['a name', { foo: 1 }, { reason: 'unknown_field', field: 'extra_json.foo' }],
    ['a bound on money', { max_ammount: '0.1' }, { reason: 'unknown_field', field: 'extra_json.max_ammount' }],
    ['a picture', { image: 'https://x.example/a.png' }, { reason: 'unknown_field', field: 'extra_json.image' }],
    ['a name of a prototype', { constructor: 1 }, { reason: 'unknown_field', field: 'extra_json.constructor' }],
    [
      'a value above every range',
      { seed: 2 ** 32 },
      {
        reason: 'invalid_request',
        field: 'extra_json.seed',
        message: 'must be a whole number from 0 to 9; it is 4294967296',
      },
    ],
    ['a fraction', { seed: 1.5 }, { reason: 'invalid_request', field: 'extra_json.seed' }],
    ['a value of another type', { seed: [7] }, { reason: 'invalid_request', field: 'extra_json.seed' }],
  ])('%s', async (_what, extra, refusal) => {
    const world = await openThree();
    const order = withExtra(extra);

    const request = { ...caller, order, tokenId: 'token_1', beside: {}, makers: [] };
    await expect(world.create(order)).rejects.toMatchObject(refusal);
    await expect(checkCreate(world.deps, request)).rejects.toMatchObject(refusal);
    await expect(estimateOrder(world.deps, { ...caller, order })).rejects.toMatchObject(refusal);
    expect(world.journal.names()).toEqual([]);
  });

  test('two that no channel takes together', async () => {
    const world = await openThree(['first', 'second']);
    world.upstream.extraFields = new Map(Object.entries({ first: { style: WIDER['style']! }, second: SEED }));

    await expect(world.create(withExtra({ style: 'noir', seed: 7 }))).rejects.toMatchObject({
      reason: 'unknown_field',
      field: 'extra_json.seed',
      message: 'is taken by no generator of Alpha-H3 together with the other fields of this request',
    });
  });
});

describe('an optional extra field', () => {
  test('is sent to a channel that takes it', async () => {
    const world = await openThree();

    const { task } = await world.create(withExtra({ seed: 7 }, ['seed']));

    expect(sentTo(world)).toEqual(['second']);
    expect(task.order).toMatchObject({ extraJson: '{"seed":7}', optionalExtra: ['seed'] });
  });

  test('is left out of the frozen order where no channel takes it', async () => {
    const world = await openThree(['first']);

    const { task } = await world.create(withExtra({ seed: 7, user: 'me', fps: 24 }, ['seed', 'fps']));

    expect(task.order).toMatchObject({ extraJson: '{"user":"me"}', optionalExtra: ['seed', 'fps'] });
    expect(world.upstream.submitted[0]?.attempt.extraJson).toBe('{"user":"me"}');
  });

  test('is refused if a channel takes it with another value', async () => {
    const world = await openThree();

    await expect(world.create(withExtra({ seed: 700 }, ['seed']))).rejects.toMatchObject({
      reason: 'invalid_request',
      field: 'extra_json.seed',
    });
  });

  test('leaves out no channel that a required field needs', async () => {
    const world = await openThree(['first', 'second']);
    world.upstream.extraFields = new Map(Object.entries({ first: { style: WIDER['style']! }, second: SEED }));

    const { task } = await world.create(withExtra({ seed: 7, style: 'noir' }, ['seed']));

    expect(sentTo(world)).toEqual(['first']);
    expect(task.order).toMatchObject({ extraJson: '{"style":"noir"}' });
  });
});
