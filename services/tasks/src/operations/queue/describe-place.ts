import { SCHEDULED_LANE, readLane } from '../../domain/lane.ts';
import type { QueueClass } from '../../domain/lane.ts';
import type { FoundPlace } from '../../store/queue-store.ts';
import type { Deps } from '../deps.ts';
import { estimateWaitMs } from '../lanes/lane-rates.ts';

/** The place of a task as its owner sees it. It shows nothing of other accounts. */
export interface PlaceView {
  /** The number of tasks of its own token before it. */
  readonly position: number;
  /** The time of its turn, roughly; absent: not known. */
  readonly estimatedStartAt?: number | undefined;
  readonly since: number;
  readonly startBy: number;
  readonly class: QueueClass;
  readonly waitsFor: 'capacity' | 'own_limit' | 'scheduled';
}

/** Undefined: the task does not wait, or has its turn now. */
export async function describePlace(
  deps: Pick<Deps, 'store' | 'clock' | 'queue'>,
  taskId: string,
): Promise<PlaceView | undefined> {
  const place = await deps.store.findPlace(taskId);
  return place && toPlaceView(deps, place);
}

export function toPlaceView({ clock, queue }: Pick<Deps, 'clock' | 'queue'>, place: FoundPlace): PlaceView {
  const { lane, nextLane, position, since, startBy } = place;
  const waitsFor = lane === SCHEDULED_LANE ? 'scheduled' : place.isReady ? 'capacity' : 'own_limit';
  const waitMs =
    waitsFor === 'capacity' && !place.isHeld
      ? estimateWaitMs({ ...place, perMinute: queue.rates.readPerMinute(lane) })
      : undefined;
  return {
    position,
    estimatedStartAt:
      waitsFor === 'scheduled' ? place.notBefore : waitMs === undefined ? undefined : clock.now() + waitMs,
    since,
    startBy,
    class: readLane(nextLane ?? lane).class,
    waitsFor,
  };
}
