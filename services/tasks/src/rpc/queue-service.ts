import { durationMs } from '@bufbuild/protobuf/wkt';
import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import type { Implementation } from '@reelgate/platform/rpc/service';
import { toTimestamp } from '@reelgate/platform/rpc/whole-message';
import { QueueClass as WireClass } from '@reelgate/proto/tasks/v1/queue';
import type { QueueService } from '@reelgate/proto/tasks/v1/queue_service';
import type { QueueClass } from '../domain/lane.ts';
import type { Deps } from '../operations/deps.ts';
import type { OperatorDeps } from '../operations/operators/pause-channel.ts';
import { explainPlace, listQueue } from '../operations/queue/list-queue.ts';
import {
  cancelQueued,
  holdQueue,
  moveQueuedTask,
  releaseQueue,
  setQueueWeight,
} from '../operations/queue/operate-queue.ts';
import type { CancelScope } from '../operations/queue/operate-queue.ts';
import { toRefusal } from '../operations/task-refusals.ts';
import type { QueueSubject } from '../store/queue-store.ts';
import { fromOptionalEnum } from './mapping-order.ts';
import { emptyToUndefined } from './request-fields.ts';

const LASTS_MS_MIN = 1000;
const LASTS_MS_MAX = 366 * 24 * 3_600_000;

const CLASS_WORDS = deriveWords(WireClass);

/** The tasks that wait for a channel, for operators. */
export function queueService(deps: Deps, operate: OperatorDeps): Implementation<typeof QueueService> {
  return {
    listQueue: ({ model, class: ofClass, accountId }) =>
      listQueue(deps, {
        model: emptyToUndefined(model),
        class: readClass(ofClass),
        accountId: emptyToUndefined(accountId),
      }),
    showQueuedTask: ({ taskId }) => explainPlace(deps, taskId),
    moveQueuedTask: async ({ taskId, class: ofClass, first, actor, reason }, { caller }) => {
      const to = { taskId, class: readClass(ofClass), first };
      if (to.class === undefined && !first) throw invalid('class', 'must be set unless `first` is set');
      const place = await moveQueuedTask(deps, to, { actor: actor || caller.name, reason });
      return { ...(place && { place }) };
    },
    cancelQueued: async ({ actor, reason, ...which }, { caller, signal }) =>
      cancelQueued(deps, operate, readCancelScope(which), { actor: actor || caller.name, reason, signal }),
    setQueueWeight: async ({ accountId, weight, lasts, actor, reason }, { caller }) => {
      const lastsMs = lasts && durationMs(lasts);
      if (lastsMs !== undefined && !(lastsMs >= LASTS_MS_MIN && lastsMs <= LASTS_MS_MAX))
        throw invalid('lasts', 'must be from 1 second to 366 days');
      const endsAt = await setQueueWeight(
        deps,
        { accountId, weight, lastsMs },
        { actor: actor || caller.name, reason },
      );
      return { endsAt: toTimestamp(endsAt) };
    },
    holdQueue: async ({ actor, reason, ...subject }, { caller }) => {
      await holdQueue(deps, readSubject(subject), { actor: actor || caller.name, reason });
      return {};
    },
    releaseQueue: async ({ actor, reason, ...subject }, { caller }) => {
      await releaseQueue(deps, readSubject(subject), { actor: actor || caller.name, reason });
      return {};
    },
  };
}

function invalid(field: string, message: string): Error {
  return toRefusal({ reason: 'invalid_request', field, message });
}

function readClass(ofClass: WireClass): QueueClass | undefined {
  return fromOptionalEnum(CLASS_WORDS, ofClass);
}

function readSubject({ accountId, model }: { readonly accountId: string; readonly model: string }): QueueSubject {
  if ((accountId === '') === (model === '')) throw invalid('account_id', 'must be set, or else `model`, and not both');
  return model === '' ? { account: accountId } : { model };
}

function readCancelScope(request: {
  readonly taskId: string;
  readonly accountId: string;
  readonly tokenId: string;
}): CancelScope {
  const { taskId, accountId, tokenId } = request;
  if ((taskId === '') === (accountId === ''))
    throw invalid('task_id', 'must be set, or else `account_id`, and not both');
  if (tokenId !== '' && accountId === '') throw invalid('token_id', 'can only be set with `account_id`');
  return accountId === '' ? { taskId } : { accountId, tokenId: emptyToUndefined(tokenId) };
}
