import { describe, expect, test } from '@jest/globals';
import { Problem, CallEnded } from '@reelgate/platform/problem';
import type { ProblemKind } from '@reelgate/platform/problem';
import { nothingBegun, serviceUnavailable } from '@reelgate/platform/service-unavailable';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { refused } from '../../../testing/fake-upstream.ts';
import { useWorlds } from '../../../testing/open-world.ts';
import type { World, WorldOptions } from '../../../testing/open-world.ts';
import { anOrder } from '../../../testing/orders.ts';
import type { Submission } from '../../channels/channel.ts';
import type { Cause } from '../../domain/failure-cause.ts';
import { classifyRefusal, countRefusals } from '../task-refusals.ts';

const open = useWorlds();
const problem = (kind: ProblemKind, reason: string): Problem => new Problem({ kind, reason, message: 'no' });

test.each<[string, unknown, Cause | undefined]>([
  ['an invalid field', problem('invalid', 'invalid_request'), 'client'],
  ['media that cannot be read', problem('invalid', 'invalid_media'), 'client'],
  ['an unknown model', problem('not_found', 'model_not_found'), 'client'],
  ['a balance', problem('exhausted', 'insufficient_quota'), 'client'],
  ['a key of another request', problem('unprocessable', 'idempotency_key_reused'), 'client'],
  ['a missing price', problem('invalid', 'model_price_error'), 'us'],
  ['a service that is away', nothingBegun(serviceUnavailable(undefined)), 'us'],
  ['storage that is away', problem('unavailable', 'storage_unavailable'), 'us'],
  ['no channel', problem('unavailable', 'no_channel_available'), 'upstream'],
  ['an internal error', new Error('a bug'), 'us'],
  ['a deadline that has passed', new CallEnded('deadline_exceeded'), 'us'],
  ['a caller who left', new CallEnded('cancelled'), undefined],
])('a create that is refused for %s is refused by: %s', (_what, error, cause) => {
  expect(classifyRefusal(error)).toBe(cause);
});

const REFUSED = { model: 'alpha', accountId: 'acme' };

describe('of the creates of a world', () => {
  const refusals = async (world: World, order = anOrder()): Promise<string[]> => {
    const create = countRefusals(world.deps, REFUSED, () => world.create(order));
    await expect(create).rejects.toThrow();
    return world.counted.filter((words) => words.startsWith('refused by'));
  };
  const answered = async (submission: Submission, options: WorldOptions = {}): Promise<string[]> => {
    const world = await open({ channels: [channelSettings({ id: 'first' })], ...options });
    world.upstream.answer('first', submission);
    return refusals(world);
  };

  test.each<[Parameters<typeof refused>[0], Cause]>([
    ['content', 'client'],
    ['order', 'client'],
    ['unfit', 'client'],
    ['channel', 'upstream'],
    ['throttle', 'upstream'],
  ])('one that its upstream refuses with the fault %s is refused by: %s', async (fault, cause) => {
    expect(await answered(refused(fault))).toEqual([`refused by ${cause}`]);
  });

  test('one beyond the limit of its token is refused by the client, one beyond that of the service by us', async () => {
    const byToken = await open({ limits: { inFlightPerToken: 0, inFlightTotal: 10 } });
    const byService = await open({ limits: { inFlightPerToken: 10, inFlightTotal: 0 } });

    expect([await refusals(byToken), await refusals(byService)]).toEqual([['refused by client'], ['refused by us']]);
  });

  test('one that is accepted is not counted as refused', async () => {
    const world = await open();
    await countRefusals(world.deps, REFUSED, () => world.create());

    expect(world.counted.filter((words) => words.startsWith('refused'))).toEqual([]);
  });
});
