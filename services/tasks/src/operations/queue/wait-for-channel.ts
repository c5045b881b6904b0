import { maybeBegun } from '@reelgate/platform/service-unavailable';
import { computeCost } from '../../domain/fair-queue.ts';
import type { StagedMedia, Task } from '../../domain/task.ts';
import type { CreateContext } from '../creates/create-context.ts';
import type { CreateMedia } from '../creates/stage-media.ts';
import { showTask } from '../attempts/record-outcome.ts';
import type { Deps, QueueLimits } from '../deps.ts';
import { queueFull } from '../task-refusals.ts';

/**
 * Lets a create wait for its turn, in place of a refusal. It has its hold and its staged media, so from here on it needs
 * neither its caller nor this process. Returns the task; undefined if another process has decided over the create.
 */
export async function waitForChannel(
  deps: Deps,
  { task, media }: CreateContext,
  { lane, limits }: { readonly lane: string; readonly limits: QueueLimits },
): Promise<Task | undefined> {
  const { store, clock, log, queue, wake } = deps;
  const { id: taskId, accountId, tokenId, seconds, caps, owner } = task;
  await assertPlaceLeft(deps, accountId, limits);
  const since = clock.now();
  const place = {
    ...{ taskId, lane, accountId, tokenId, since, caps },
    cost: computeCost(seconds),
    startBy: since + limits.longestWaitMs,
    mediaJson: writeMedia(media),
  };
  const waiting = await store.enqueue(place, owner).catch((error: unknown) => {
    throw maybeBegun(error);
  });
  if (waiting === undefined) return undefined;
  log.info({ taskId, accountId }, 'a task waits for a channel');
  queue.lanes.add(lane);
  showTask(deps, waiting);
  wake.queue();
  return waiting;
}

/** Creates that arrive at the same moment may pass the limit by their number. */
async function assertPlaceLeft({ store }: Deps, accountId: string, { perAccount, total }: QueueLimits): Promise<void> {
  const waiting = await store.countWaiting(accountId);
  if (waiting.ofAccount >= perAccount) throw queueFull('account');
  if (waiting.total >= total) throw queueFull('service');
}

type MediaEntries = readonly (readonly [number, StagedMedia])[];

interface WrittenMedia {
  readonly byIndex: MediaEntries;
  readonly source?: { readonly byIndex: MediaEntries; readonly base: StagedMedia } | undefined;
}

function writeMedia({ byIndex, source }: CreateMedia): string {
  const written: WrittenMedia = {
    byIndex: [...byIndex],
    source: source && { byIndex: [...source.byIndex], base: source.base },
  };
  return JSON.stringify(written);
}

export function readMedia(json: string): CreateMedia {
  const { byIndex, source } = JSON.parse(json) as WrittenMedia;
  return {
    byIndex: new Map(byIndex),
    source: source && { byIndex: new Map(source.byIndex), base: source.base },
  };
}
