import type { RpcAnswer } from '../../../api/calls.ts';
import { toCall } from '../../../state/calls.ts';
import type { RpcCall } from '../../../state/calls.ts';
import type { QueueChange } from '../queue-words.ts';

type Queue = RpcAnswer<'tasks.QueueService/ListQueue'>;
/** Tasks that the same channels can do. */
export type QueueLane = Queue['lanes'][number];
export type QueueAccount = Queue['accounts'][number];

/** A change that an operator wants to make. A hold and a release can name a model instead of an account. */
export interface WantedChange {
  readonly change: QueueChange;
  readonly accountId?: string;
  readonly model?: string;
  readonly weight?: number;
}

/** The call that carries out a change. The answer to a cancel has `hasMore`. */
export function toChangeCall(
  { change, accountId = '', model = '', weight = 0 }: WantedChange,
  reason: string,
): RpcCall<object> {
  switch (change) {
    case 'weight':
      return toCall('tasks.QueueService/SetQueueWeight', { accountId, weight, reason });
    case 'hold':
      return toCall('tasks.QueueService/HoldQueue', { accountId, model, reason });
    case 'release':
      return toCall('tasks.QueueService/ReleaseQueue', { accountId, model, reason });
    case 'cancel':
      return toCall('tasks.QueueService/CancelQueued', { accountId, reason });
  }
}
