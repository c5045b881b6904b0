import { describe, expect, test } from '@jest/globals';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { refused, succeeded } from '../../../testing/fake-upstream.ts';
import { useWorlds } from '../../../testing/open-world.ts';
import type { World } from '../../../testing/open-world.ts';
import { aRegeneration, aText, anImage, anOrder } from '../../../testing/orders.ts';
import type { ChannelSettings } from '../../channels/channel.ts';
import { applyReport } from '../polls/apply-report.ts';

const open = useWorlds();

/** A completed generation with a reference that these channels may regenerate. */
async function withSource(
  channels: readonly ChannelSettings[],
): Promise<{ readonly world: World; readonly sourceTaskId: string }> {
  const world = await open({ channels });
  const { task } = await world.create(anOrder({ content: [aText('a fox'), anImage('reference_image')], duration: 9 }));
  const polled = succeeded();
  if (polled.found) await applyReport(world.deps, task, polled.report);
  return { world, sourceTaskId: task.id };
}

describe('a source on a channel that takes the video', () => {
  const asVideo = channelSettings({ regeneration: 'video' });

  test('is staged again from stored data, and sent as its prompt, references and result', async () => {
    const { world, sourceTaskId } = await withSource([asVideo]);
    const staged = world.media.staged.length;

    const { task } = await world.create(aRegeneration({ sourceTaskId }));

    expect(world.media.staged.slice(staged).toSorted((a, b) => a.category.localeCompare(b.category))).toEqual([
      { accountId: 'acme', taskId: task.id, category: 'base_video', object: `res-${sourceTaskId}` },
      { accountId: 'acme', taskId: task.id, category: 'image', object: `obj-${sourceTaskId}-1` },
    ]);
    const { attempt } = world.upstream.submitted.at(-1)!;
    expect(attempt).toMatchObject({
      kind: 'regeneration',
      sourceUpstreamId: undefined,
      content: [{ text: 'a fox' }, { role: 'reference_image' }, { role: 'base_video' }],
    });
    expect(JSON.stringify(attempt.content)).not.toContain('files.example');
    expect(world.billing.holds.get(task.id)?.facts?.seconds).toBe(9);
  });

  test.each<[string, (id: string) => string]>([
    ['result', (id) => `res-${id}`],
    ['reference', (id) => `obj-${id}-1`],
  ])('is refused when its %s is removed, and the hold is released', async (_what, objectOf) => {
    const { world, sourceTaskId } = await withSource([asVideo]);
    world.media.gone.add(objectOf(sourceTaskId));

    await expect(world.create(aRegeneration({ sourceTaskId }))).rejects.toMatchObject({
      kind: 'invalid',
      reason: 'source_task_unsupported',
      field: 'source_task_id',
    });

    expect(world.upstream.submitted).toHaveLength(1);
    expect([...world.billing.holds.values()].map(({ state }) => state)).toEqual(['held', 'released']);
    expect(await world.deps.store.inFlight('total')).toBe(0);
  });

  test('that is removed goes to the channels that take the task', async () => {
    const { world, sourceTaskId } = await withSource([{ ...asVideo, priority: 1 }, channelSettings({ id: 'by-task' })]);
    world.media.gone.add(`res-${sourceTaskId}`);

    await world.create(aRegeneration({ sourceTaskId }));

    expect(world.upstream.submitted.slice(1)).toMatchObject([
      { channel: 'by-task', attempt: { sourceUpstreamId: 'up-1', content: [] } },
    ]);
  });

  test('goes to another channel as the task, with nothing of the first attempt', async () => {
    const { world, sourceTaskId } = await withSource([{ ...asVideo, priority: 1 }, channelSettings({ id: 'by-task' })]);
    world.upstream.answer('main', refused('channel'));

    await world.create(aRegeneration({ sourceTaskId }));

    expect(
      world.upstream.submitted.slice(1).map(({ attempt }) => [attempt.sourceUpstreamId, attempt.content.length]),
    ).toEqual([
      [undefined, 3],
      ['up-1', 0],
    ]);
  });
});
