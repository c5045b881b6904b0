import { Problem } from '@reelgate/platform/problem';
import type { Pause } from '../../store/operator-store.ts';
import type { OperatorDeps } from './operator-deps.ts';

export interface PauseOrder {
  readonly channel: string;
  readonly actor: string;
  readonly reason: string;
}

type PauseDeps = Pick<OperatorDeps, 'operators' | 'paused' | 'channelIds' | 'clock' | 'log' | 'announcePause'>;

export const channelNotFound = (): Problem =>
  new Problem({
    kind: 'not_found',
    reason: 'channel_not_found',
    message: 'no such channel; `channel list` shows every channel',
  });

/** Keeps new work from a channel, in every process, until it is resumed. Returns its pause, which may be an earlier one. */
export async function pauseChannel(deps: PauseDeps, order: PauseOrder): Promise<Pause> {
  if (!deps.channelIds().includes(order.channel)) {
    const known = (await deps.operators.pauses()).find(({ channel }) => channel === order.channel);
    if (known === undefined) throw channelNotFound();
    return known;
  }
  const pause = await deps.operators.pause({ ...order, at: deps.clock.now() });
  deps.log.warn({ channel: order.channel, actor: pause.actor }, 'a channel is paused');
  await takeUp(deps, order.channel);
  return pause;
}

/** Gives a channel new work again, also one that has left the configuration. Returns whether it was paused. */
export async function resumeChannel(deps: PauseDeps, order: PauseOrder): Promise<boolean> {
  const wasPaused = await deps.operators.resume({ ...order, at: deps.clock.now() });
  if (!wasPaused && !deps.channelIds().includes(order.channel)) throw channelNotFound();
  if (wasPaused) deps.log.warn({ channel: order.channel, actor: order.actor }, 'a channel is resumed');
  await takeUp(deps, order.channel);
  return wasPaused;
}

/** The change is written, so a read that fails does not undo it: the next pass reads it. */
async function takeUp({ paused, log, announcePause }: PauseDeps, channel: string): Promise<void> {
  announcePause(channel);
  await paused.read().catch((error: unknown) => {
    log.warn({ channel, err: error }, 'the pauses of channels could not be read');
  });
}
