import { describe, expect, test } from '@jest/globals';
import { Secret, acceptOnly } from '@reelgate/platform/secret';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { refused } from '../../../testing/fake-upstream.ts';
import { deepFrozen, reachableFrom } from '../../../testing/object-graph.ts';
import { useWorlds } from '../../../testing/open-world.ts';
import {
  MODELS,
  aContextIr,
  aRegeneration,
  aRegenerationByContent,
  aSound,
  aText,
  aVideo,
  anImage,
  anOrder,
} from '../../../testing/orders.ts';
import { aSource } from '../../../testing/tasks.ts';
import type { ChannelSettings, PlannedAttempt } from '../../channels/channel.ts';
import type { Order } from '../../domain/order.ts';
import type { StagedMedia, Task } from '../../domain/task.ts';
import { callbackUrls } from './upstream-urls.ts';
import { NO_MEDIA } from '../creates/stage-media.ts';
import { planAttempt } from './plan-attempt.ts';
import type { AttemptInputs } from './plan-attempt.ts';

const open = useWorlds();
const FIRST = channelSettings({ id: 'first', priority: 1, models: { 'Alpha-H3': 'MiniMax-H3' }, references: 'url' });
const SECOND = channelSettings({ id: 'second', models: { 'Alpha-H3': 'vendor/h3-2026' }, references: 'inline' });
const AS_VIDEO = channelSettings({ regeneration: 'video' });
const MEDIA = anOrder({
  content: [
    aText('a fox'),
    anImage('reference_image'),
    aVideo('reference_video'),
    aSound('reference_audio'),
    aText('and a hare'),
  ],
});
const STAGED: ReadonlyMap<number, StagedMedia> = new Map([
  [1, { object: 'obj_image', mediaType: 'image/png', durationMs: 0 }],
  [2, { object: 'obj_video', mediaType: 'video/mp4', durationMs: 4000 }],
  [3, { object: 'obj_sound', mediaType: 'audio/mpeg', durationMs: 4000 }],
]);

/** Every address is unique, so that a reused one is visible. */
function planner() {
  let addresses = 0;
  const given: string[] = [];
  const deps = {
    callbacks: callbackUrls('https://gateway.example', acceptOnly(new Secret('signing key'))),
    models: () => MODELS,
    mediaUrl: async ({ object }: { readonly object: string }, references: 'inline' | 'url') => {
      given.push(`${references}:${object}?${(addresses += 1)}`);
      return given.at(-1)!;
    },
  };
  return {
    given,
    plan: (
      settings: ChannelSettings,
      inputs: Partial<AttemptInputs> & { readonly order: Order },
    ): Promise<PlannedAttempt> =>
      planAttempt(
        deps,
        {
          taskId: 'task_1',
          number: 1,
          settings,
          source: undefined,
          media: { byIndex: STAGED, source: undefined },
          ...inputs,
        },
        new AbortController().signal,
      ),
  };
}

describe('an attempt', () => {
  test('maps the model, keeps the order of the content, and makes the media URLs for this channel alone', async () => {
    const { plan } = planner();

    expect(await plan(FIRST, { order: MEDIA })).toEqual({
      key: 'task_1-1',
      kind: 'generation',
      model: 'MiniMax-H3',
      duration: 5,
      resolution: '768P',
      ratio: '16:9',
      content: [
        { text: 'a fox' },
        { media: 'image', role: 'reference_image', url: 'url:obj_image?1' },
        { media: 'video', role: 'reference_video', url: 'url:obj_video?2' },
        { media: 'audio', role: 'reference_audio', url: 'url:obj_sound?3' },
        { text: 'and a hare' },
      ],
    });
  });

  test('sets the role of a single image that has none', async () => {
    const { plan } = planner();

    expect((await plan(FIRST, { order: anOrder({ content: [aText(), anImage()] }) })).content[1]).toMatchObject({
      role: 'first_frame',
    });
  });

  test("never sends the client's own URL of a media item", async () => {
    const { plan } = planner();

    const { content } = await plan(FIRST, { order: MEDIA });

    expect(JSON.stringify(content)).not.toContain('files.example');
  });

  test('sends an upstream file unchanged', async () => {
    const { plan, given } = planner();
    const order = anOrder({ content: [aText(), { media: 'image', role: 'first_frame', url: 'mm_file://1' }] });

    expect((await plan(FIRST, { order, media: NO_MEDIA })).content[1]).toMatchObject({ url: 'mm_file://1' });
    expect(given).toEqual([]);
  });

  test('resolves the source for the upstream account of the channel', async () => {
    const { plan } = planner();

    expect(await plan(FIRST, { order: aRegeneration(), source: aSource() })).toMatchObject({
      kind: 'regeneration',
      content: [],
      sourceUpstreamId: 'up-1',
    });
  });

  test('of a source becomes content on a channel that takes the video, made from stored data alone', async () => {
    const { plan } = planner();
    const source = aSource({ order: deepFrozen(structuredClone(MEDIA)) });
    const sourceMedia = { byIndex: STAGED, base: { object: 'obj_result', mediaType: 'video/mp4', durationMs: 5000 } };

    const attempt = await plan(AS_VIDEO, {
      order: aRegeneration(),
      source,
      media: { byIndex: new Map(), source: sourceMedia },
    });

    expect(attempt).toMatchObject({
      kind: 'regeneration',
      model: 'MiniMax-H3',
      resolution: '2K',
      sourceUpstreamId: undefined,
    });
    expect(attempt.content).toEqual([
      { text: 'a fox' },
      { media: 'image', role: 'reference_image', url: 'url:obj_image?1' },
      { media: 'video', role: 'reference_video', url: 'url:obj_video?2' },
      { media: 'audio', role: 'reference_audio', url: 'url:obj_sound?3' },
      { text: 'and a hare' },
      { media: 'video', role: 'base_video', url: 'url:obj_result?4' },
    ]);
    expect(JSON.stringify(attempt.content)).not.toContain('files.example');
  });

  test('of content is the same on a channel that takes videos', async () => {
    const { plan } = planner();
    const byIndex = new Map([[1, { object: 'obj_base', mediaType: 'video/mp4', durationMs: 5000 }]]);

    expect(
      (await plan(AS_VIDEO, { order: aRegenerationByContent(), media: { byIndex, source: undefined } })).content,
    ).toMatchObject([{}, { role: 'base_video', url: 'url:obj_base?1' }]);
  });

  test.each<[string, ChannelSettings, Order, Task | undefined]>([
    [
      'whose source belongs to another upstream account, as a video',
      channelSettings({ upstreamAccount: 'rival', regeneration: 'video' }),
      aRegeneration(),
      aSource(),
    ],
    ['whose source was not staged for a channel that takes the video', AS_VIDEO, aRegeneration(), aSource()],
    ['whose channel does not have the model', channelSettings({ models: {} }), anOrder(), undefined],
    [
      'whose source belongs to another upstream account',
      channelSettings({ upstreamAccount: 'rival' }),
      aRegeneration(),
      aSource(),
    ],
    [
      'whose source has no upstream id',
      FIRST,
      aRegeneration(),
      aSource({ mapping: { channel: 'main', upstreamAccount: 'vendor' } }),
    ],
    [
      'whose media item was not staged',
      FIRST,
      anOrder({ content: [aText(), aText(), aText(), aText(), anImage()] }),
      undefined,
    ],
  ])('%s is not planned', async (_what, settings, order, source) => {
    await expect(planner().plan(settings, { order, source })).rejects.toThrow();
  });

  test.each<[string, ChannelSettings, Order, string | undefined]>([
    [
      'on a channel with callbacks has its own callback address',
      channelSettings({ callbacks: true }),
      anOrder(),
      expect.stringMatching(/^https:\/\/gateway\.example\/callbacks\/task_1\.1\./) as unknown as string,
    ],
    [
      'whose client named a callback has no address of ours',
      channelSettings({ callbacks: true }),
      aContextIr({ callbackUrl: 'https://client.example/cb' }),
      undefined,
    ],
    ['on a channel without callbacks has no address', FIRST, anOrder(), undefined],
  ])('%s', async (_what, settings, order, callbackUrl) => {
    expect((await planner().plan(settings, { order })).callbackUrl).toEqual(callbackUrl);
  });

  test('is checked again by the current settings of the model', async () => {
    await expect(planner().plan(FIRST, { order: anOrder({ duration: 99 }) })).rejects.toMatchObject({
      reason: 'invalid_duration',
    });
  });
});

describe('an attempt as a value', () => {
  const inputs = (order: Order, source?: Task): Partial<AttemptInputs> & { readonly order: Order } => ({
    order: deepFrozen(structuredClone(order)),
    source: deepFrozen(structuredClone(source)),
  });

  test.each<[string, Order, Task | undefined]>([
    ['media', MEDIA, undefined],
    ['a source', aRegeneration(), aSource()],
    ['context-IR', aContextIr(), undefined],
  ])('is the same twice from frozen inputs with %s, except for fresh addresses', async (_what, order, source) => {
    const { plan } = planner();
    const frozen = inputs(order, source);

    const [one, other] = [await plan(FIRST, frozen), await plan(FIRST, frozen)];

    expect(withoutAddresses(other)).toEqual(withoutAddresses(one));
    expect(listAddresses(one).filter((address) => listAddresses(other).includes(address))).toEqual([]);
  });

  test('differs between channels in the mapped model and the addresses alone', async () => {
    const { plan } = planner();
    const frozen = inputs(MEDIA);

    const [one, other] = [await plan(FIRST, frozen), await plan(SECOND, frozen)];

    expect([one.model, other.model]).toEqual(['MiniMax-H3', 'vendor/h3-2026']);
    expect({ ...withoutAddresses(other), model: '' }).toEqual({ ...withoutAddresses(one), model: '' });
    expect(listAddresses(other).every((address) => address.startsWith('inline:'))).toBe(true);
  });

  test('does not depend on earlier attempts', async () => {
    const alone = planner();
    const second = planner();
    const frozen = inputs(MEDIA);

    const first = await alone.plan(SECOND, frozen);
    await second.plan(FIRST, frozen);

    expect(withoutAddresses(await second.plan(SECOND, frozen))).toEqual(withoutAddresses(first));
  });
});

describe('the second attempt of a create', () => {
  test('shares only the frozen order with the first', async () => {
    const world = await open({ channels: [FIRST, SECOND] });
    world.upstream.answer('first', refused('channel'));
    const order = deepFrozen(structuredClone(MEDIA));

    await world.create(order);

    const [one, other] = world.upstream.submitted.map(({ attempt }) => attempt);
    const known = reachableFrom(order);
    const shared = [...reachableFrom(other)].filter((value) => reachableFrom(one).has(value) && !known.has(value));
    expect(shared).toEqual([]);
    const unlike = { model: '', key: '' };
    expect({ ...withoutAddresses(other!), ...unlike }).toEqual({ ...withoutAddresses(one!), ...unlike });
    expect(other?.key).not.toBe(one?.key);
    expect(other?.model).toBe('vendor/h3-2026');
  });

  test('contains no text of the first except that of the order', async () => {
    const world = await open({ channels: [FIRST, SECOND] });
    world.upstream.answer('first', refused('channel'));

    await world.create(MEDIA);

    const [one, other] = world.upstream.submitted.map(({ attempt }) => attempt);
    const own = [one!.model, ...listAddresses(one!)];
    expect(own).toHaveLength(4);
    for (const text of own) expect(JSON.stringify(other)).not.toContain(JSON.stringify(text));
  });

  test('stages no media again', async () => {
    const world = await open({ channels: [FIRST, SECOND] });
    world.upstream.answer('first', refused('channel'));

    await world.create(MEDIA);

    expect(world.media.staged).toHaveLength(3);
  });
});

function listAddresses({ content }: PlannedAttempt): string[] {
  return content.flatMap((item) => ('url' in item ? [item.url] : []));
}

function withoutAddresses(attempt: PlannedAttempt): PlannedAttempt {
  return { ...attempt, content: attempt.content.map((item) => ('url' in item ? { ...item, url: '' } : item)) };
}
