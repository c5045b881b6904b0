import type { Model as WireModel, ModelOperation as WireOperation } from '@reelgate/proto/tasks/v1/task_service';
import { withDeadline } from './caller.ts';
import type { AccountCaller } from './caller.ts';
import { KIND_WORDS, ROLE_WORDS } from './plain-task.ts';
import type { PlainKind, PlainRole } from './plain-task.ts';
import { WAIT_CLASSES } from './task-queue.ts';
import type { WaitClass } from './task-queue.ts';
import type { TasksClient } from './tasks-client.ts';
import type { MessageMapping } from './wire-values.ts';

const DEADLINE_MS = 5000;

export interface OrderableModels {
  readonly models: readonly OrderableModel[];
  /** The price class of the token's orders, unless they prefer another. Undefined if the token has no class. */
  readonly priceClass: WaitClass | undefined;
}

/** A model that a token may order from, with the limits that the tasks service holds its orders to. */
export interface OrderableModel {
  readonly id: string;
  readonly durationMin: number;
  readonly durationMax: number;
  readonly ratios: readonly string[];
  /** The ratios that an order of text alone cannot have. */
  readonly mediaRatios: readonly string[];
  readonly operations: readonly ModelOperation[];
}

/** A use of a model. */
export interface ModelOperation {
  readonly kind: PlainKind;
  /** The key of its price. */
  readonly priceKey: string;
  /** Empty if its orders name no resolution. */
  readonly resolutions: readonly string[];
  /** The maximum number of characters of each text. */
  readonly textMax: number;
  readonly media: MediaLimits;
  /** True if the price counts them: the seconds of reference videos, and images. */
  readonly counts: { readonly inputSeconds: boolean; readonly images: boolean };
}

export interface MediaLimits {
  /** The maximum number of media items in all. */
  readonly max: number;
  /** The maximum number of items of each role. A missing role is not allowed. */
  readonly roles: Readonly<Partial<Record<PlainRole, number>>>;
  readonly framesExcludeReferences: boolean;
  /** A reference audio needs a reference image, a reference video or a base video. */
  readonly audioNeedsPicture: boolean;
}

/** Lists the models that a token may order from, by id. */
export async function listOrderableModels(
  tasks: Pick<TasksClient, 'listModels'>,
  tokenId: string,
  { accountId, ...call }: AccountCaller,
): Promise<OrderableModels> {
  const { models, priceClass } = await tasks.listModels({ accountId, tokenId }, withDeadline(call, DEADLINE_MS));
  return { models: models.map(fromWireModel), priceClass: WAIT_CLASSES[priceClass] };
}

function fromWireModel(model: WireModel): OrderableModel {
  const { id, durationMin, durationMax, ratios, mediaRatios, operations } = model;
  return {
    id,
    durationMin,
    durationMax,
    ratios,
    mediaRatios,
    operations: operations.flatMap(fromWireOperation),
  } satisfies MessageMapping<WireModel, 'kinds' | 'resolutions'>;
}

/** A kind that a newer tasks service has is left out. */
function fromWireOperation(operation: WireOperation): ModelOperation[] {
  const kind = KIND_WORDS[operation.kind];
  if (kind === undefined) return [];
  const { priceKey, resolutions, textMax, mediaMax, roles, countsInputSeconds, countsImages } = operation;
  const { framesExcludeReferences, audioNeedsPicture } = operation;
  return [
    {
      kind,
      priceKey,
      resolutions,
      textMax,
      media: {
        max: mediaMax,
        roles: Object.fromEntries(
          roles.flatMap(({ role, max }) => (ROLE_WORDS[role] ? [[ROLE_WORDS[role], max]] : [])),
        ),
        framesExcludeReferences,
        audioNeedsPicture,
      },
      counts: { inputSeconds: countsInputSeconds, images: countsImages },
    },
  ];
}
