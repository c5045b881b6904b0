import { afterEach, expect, test } from '@jest/globals';
import { silentLog } from '@reelgate/platform/log';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { untilAfter } from '@reelgate/platform/testing/until';
import type { ChannelPause, RestingChannels } from '../../clients/channels-client.ts';
import { followChannelPauses } from './channel-pauses.ts';
import type { ChannelPauses } from './channel-pauses.ts';

let pauses: ChannelPauses;
afterEach(() => pauses.stop());

const waits = { learn: () => false };
const learnCalls = (): void => undefined;
const resting = (pauses: readonly ChannelPause[]): RestingChannels => ({ pauses, waits: [], calls: [] });
const pause = (channel: string, endsAt?: number): ChannelPause => ({
  channel,
  at: 1,
  actor: 'ada',
  reason: 'it is slow',
  endsAt,
});

test('a pause whose event was lost is noticed by itself, and so is its end', async () => {
  const clock = fakeClock();
  let there: readonly ChannelPause[] = [];
  pauses = followChannelPauses({ clock, log: silentLog, waits, learnCalls, read: async () => resting(there) });
  there = [pause('one')];
  await untilAfter(clock, () => pauses.of('one')?.actor === 'ada');
  there = [];
  await untilAfter(clock, () => pauses.of('one') === undefined);
});

test('a pause is over at its end, also while the pauses cannot be read', async () => {
  const clock = fakeClock();
  let isAway = false;
  const ending = pause('one', clock.now() + 60_000);
  const read = async (): Promise<RestingChannels> => {
    if (isAway) throw new Error('away');
    return resting([ending]);
  };
  pauses = followChannelPauses({ clock, log: silentLog, waits, learnCalls, read });
  await pauses.refresh();
  isAway = true;

  await clock.advance(59_999);
  expect(pauses.of('one')).toEqual(ending);
  await clock.advance(1);
  expect(pauses.of('one')).toBeUndefined();
});

test('while the pauses cannot be read the known ones stay, and the log says so once', async () => {
  const clock = fakeClock();
  let [isAway, asked] = [false, 0];
  const warned: string[] = [];
  const log = { ...silentLog, warn: (_fields: object, message: string) => void warned.push(message) };
  const read = async (): Promise<RestingChannels> => {
    asked += 1;
    if (isAway) throw new Error('away');
    return resting([pause('one')]);
  };
  pauses = followChannelPauses({ clock, log, waits, learnCalls, read });
  await untilAfter(clock, () => pauses.of('one') !== undefined);
  isAway = true;
  const before = asked;
  await untilAfter(clock, () => asked >= before + 3);
  expect(pauses.of('one')).toEqual(pause('one'));
  expect(warned).toEqual(['the pauses of channels cannot be read; the known ones stay']);
});

test('an answer that a newer one has overtaken changes nothing', async () => {
  const clock = fakeClock();
  const answers: ((resting: RestingChannels) => void)[] = [];
  pauses = followChannelPauses({
    clock,
    log: silentLog,
    waits,
    learnCalls,
    read: () => new Promise((resolve) => void answers.push(resolve)),
  });
  const newer = pauses.refresh();
  answers[1]?.(resting([pause('new')]));
  await newer;
  answers[0]?.(resting([pause('old')]));
  await clock.advance(0);
  expect([pauses.of('old'), pauses.of('new')?.channel]).toEqual([undefined, 'new']);
});
