import { Problem } from '@reelgate/platform/problem';
import type { Pause } from '../../store/operator-store.ts';
import type { OperatorDeps } from './operator-deps.ts';

export interface PauseRequest {
  readonly channel: string;
  readonly actor: string;
  readonly reason: string;
}

export const channelNotFound = (): Problem =>
  new Problem({
    kind: 'not_found',
    reason: 'channel_not_found',
    message: 'no such channel; `channel list` shows every channel',
  });

/**
 * Keeps new work from a channel, in every process, until it is resumed. Returns its pause, which may be an earlier one.
 */
export async function pauseChannel(deps: OperatorDeps, request: PauseRequest): Promise<Pause> {
  if (!deps.channelIds().includes(request.channel)) {
    const known = (await deps.operators.pauses()).find(({ channel }) => channel === request.channel);
    if (known === undefined) throw channelNotFound();
    return known;
  }
  const pause = await deps.operators.pause({ ...request, at: deps.clock.now() });
  deps.log.warn({ channel: request.channel, actor: pause.actor }, 'a channel is paused');
  await announceAndRead(deps, request.channel);
  return pause;
}

/** Gives a channel new work again, also one that has left the configuration. Returns whether it was paused. */
export async function resumeChannel(deps: OperatorDeps, request: PauseRequest): Promise<boolean> {
  const wasPaused = await deps.operators.resume({ ...request, at: deps.clock.now() });
  if (!wasPaused && !deps.channelIds().includes(request.channel)) throw channelNotFound();
  if (wasPaused) deps.log.warn({ channel: request.channel, actor: request.actor }, 'a channel is resumed');
  await announceAndRead(deps, request.channel);
  return wasPaused;
}

/** The change is written, so a read that fails does not undo it: the next pass reads it. */
async function announceAndRead({ paused, log, announcePause }: OperatorDeps, channel: string): Promise<void> {
  announcePause(channel);
  await paused.read().catch((error: unknown) => {
    log.warn({ channel, err: error }, 'the pauses of channels could not be read');
  });
}
