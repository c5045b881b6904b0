import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import type { Implementation } from '@reelgate/platform/rpc/service';
import { toMessage, toTimestamp } from '@reelgate/platform/rpc/whole-message';
import {
  GetTaskTimelineResponseSchema,
  ListModelsResponseSchema,
  ListTasksResponseSchema,
  ModelOperationSchema,
  ModelSchema,
  RoleLimitSchema,
} from '@reelgate/proto/tasks/v1/task_service';
import type {
  ListModelsRequest,
  ListModelsResponse,
  ListTasksRequest,
  Model,
  ModelOperation,
  TaskService,
} from '@reelgate/proto/tasks/v1/task_service';
import { TimelineEntrySchema, TimelineStep } from '@reelgate/proto/tasks/v1/timeline';
import type { TimelineEntry as WireEntry } from '@reelgate/proto/tasks/v1/timeline';
import { readAnnotations } from '../domain/annotations.ts';
import type { EveryMember } from '../domain/every-member.ts';
import { isVisible } from '../domain/model.ts';
import type { Model as DomainModel } from '../domain/model.ts';
import type { Kind } from '../domain/order.ts';
import { listCounted, toPriceKey } from '../domain/price-facts.ts';
import { describeOperation } from '../domain/rules/validate-order.ts';
import type { OperationLimits } from '../domain/rules/validate-order.ts';
import { listMediaRatios } from '../domain/rules/ranges.ts';
import type { TimelineEntry } from '../domain/rules/timeline.ts';
import type { TokenReader } from '../operations/cached-tokens.ts';
import type { Deps } from '../operations/deps.ts';
import { planCreateWait } from '../operations/creates/admit-create.ts';
import { describePlace } from '../operations/queue/list-queue.ts';
import {
  assertInSteps,
  getTask,
  listTasks,
  listTaskStep,
  readTimeline,
  withKey,
} from '../operations/reads/read-tasks.ts';
import type { OwnersFilter } from '../operations/reads/read-tasks.ts';
import { stepsNotCombined } from '../operations/task-refusals.ts';
import type { ListFilter, Page } from '../store/task-store.ts';
import { KINDS, ROLES, toWireTask } from '../operations/reads/work-messages.ts';
import { emptyToUndefined, readLimit, readTaskFilter, readTime, toWireCount, CLASSES } from './request-fields.ts';

const LIST_LIMIT = 20;

/** The reads of owners. */
export function readMethods(deps: Deps) {
  const now = (): number => deps.clock.now();
  return {
    getTask: async ({ accountId, taskId }, { span }) => {
      const task = await getTask(deps, accountId, taskId);
      span.link(task.trace);
      const place = task.admission === 'waiting' ? await describePlace(deps, taskId) : undefined;
      return { task: toWireTask(task, now(), place) };
    },
    getTaskTimeline: async ({ accountId, taskId }, { span }) => {
      const { task, entries } = await readTimeline(deps, accountId, taskId);
      span.link(task.trace);
      return toMessage(GetTaskTimelineResponseSchema, {
        entries: entries.map(toWireEntry),
        tokenId: task.tokenId,
        requestId: task.requestId,
        now: timestampFromMs(now()),
      });
    },
    listTasks: async (request) => {
      if (request.inSteps && (request.offset !== 0 || request.withTotal)) throw stepsNotCombined();
      const filter = await toOwnersFilter(deps, request);
      if (filter === undefined) return { countedAll: true };
      const page = toPage(request);
      if (request.inSteps) {
        const { tasks, continueAfter, counted } = await listTaskStep(deps, filter, page, request);
        return toMessage(ListTasksResponseSchema, {
          tasks: tasks.map((task) => toWireTask(task, now())),
          hasMore: continueAfter !== undefined,
          total: undefined,
          continueAfter,
          ...toWireCount(counted),
        });
      }
      assertInSteps(request);
      const { tasks, hasMore, total } = await listTasks(deps, filter, page, request.withTotal);
      return toMessage(ListTasksResponseSchema, {
        tasks: tasks.map((task) => toWireTask(task, now())),
        hasMore,
        total: BigInt(total ?? 0),
        continueAfter: undefined,
        ...toWireCount(),
      });
    },
  } satisfies Partial<Implementation<typeof TaskService>>;
}

/** Undefined if no task matches. */
async function toOwnersFilter(deps: Deps, request: ListTasksRequest): Promise<OwnersFilter | undefined> {
  const filter: EveryMember<ListFilter> & OwnersFilter = {
    ...readTaskFilter(request),
    accountId: request.accountId,
    taskIds: request.taskIds,
    createdFrom: readTime(request.createdFrom),
    createdBefore: readTime(request.createdBefore),
    ...readAnnotations(request),
    // Lists in steps alone have these two.
    tokenId: undefined,
    prompt: undefined,
    // An owner does not see channels.
    channel: undefined,
    upstream: undefined,
    hidden: false,
  };
  return request.idempotencyKey === '' ? filter : withKey(deps, filter, request.idempotencyKey);
}

function toPage({ limit, after, offset, ascending }: ListTasksRequest): Page {
  return { limit: readLimit(limit, LIST_LIMIT), after: emptyToUndefined(after), offset, ascending };
}

const STEPS = deriveValues(TimelineStep);

function toWireEntry({ step, from, to }: TimelineEntry): WireEntry {
  return toMessage(TimelineEntrySchema, { step: STEPS[step], from: timestampFromMs(from), to: toTimestamp(to) });
}

/** Of a request that names no token. */
export const EVERY_MODEL = ['*'];

/** The models that an enabled channel serves and that the token may use. Nothing of a channel is shown. */
export async function listModels(
  deps: Deps,
  tokens: TokenReader,
  { accountId, tokenId }: ListModelsRequest,
): Promise<ListModelsResponse> {
  const { models: visible, wait: tokenWait } =
    tokenId === '' ? { models: EVERY_MODEL } : await tokens.findRights(tokenId, accountId);
  const plan = tokenWait && planCreateWait(deps, { wait: {}, tokenWait }, deps.clock.now());
  const kinds = Object.keys(KINDS) as Kind[];
  const listed = [...deps.models().values()]
    .filter(({ id }) => isVisible(visible, id))
    .map((model) => {
      const served = kinds.filter((kind) => deps.channels.isServed(kind, model.id));
      return toWireModel(
        model,
        served.flatMap((kind) => describeOperation(kind, model) ?? []),
      );
    })
    .filter(({ operations }) => operations.length > 0)
    .toSorted((one, other) => (one.id < other.id ? -1 : 1));
  return toMessage(ListModelsResponseSchema, { models: listed, priceClass: plan && CLASSES[plan.class] });
}

function toWireModel(model: DomainModel, operations: readonly OperationLimits[]): Model {
  const { id, resolutions, ratios, durationMin, durationMax } = model;
  return toMessage(ModelSchema, {
    id,
    kinds: operations.map(({ kind }) => KINDS[kind]),
    resolutions: [...resolutions],
    ratios: [...ratios],
    durationMin,
    durationMax,
    operations: operations.map((operation) => toWireOperation(id, operation)),
    mediaRatios: [...listMediaRatios(ratios)],
  });
}

function toWireOperation(model: string, { kind, resolutions, content }: OperationLimits): ModelOperation {
  const counted = listCounted(kind);
  return toMessage(ModelOperationSchema, {
    kind: KINDS[kind],
    priceKey: toPriceKey(kind, model),
    resolutions: [...resolutions],
    textMax: content.textMax,
    mediaMax: content.mediaMax,
    roles: content.roles.map(({ role, max }) => toMessage(RoleLimitSchema, { role: ROLES[role], max })),
    framesExcludeReferences: content.framesExcludeReferences,
    audioNeedsPicture: content.audioNeedsPicture,
    countsInputSeconds: counted.inputSeconds,
    countsImages: counted.images,
  });
}
