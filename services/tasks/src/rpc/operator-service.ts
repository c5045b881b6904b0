import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { assertOwner } from '@reelgate/platform/rpc/access';
import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import type { Implementation } from '@reelgate/platform/rpc/service';
import { ActSchema } from '@reelgate/proto/access/v1/act';
import type { Act as WireAct } from '@reelgate/proto/access/v1/act';
import { AttentionItemSchema, Resolution } from '@reelgate/proto/tasks/v1/operator_service';
import type { AttentionItem as WireItem, OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { resolveAttention, resolveJob } from '../operations/attention/resolve-attention.ts';
import type { Deps } from '../operations/deps.ts';
import type { JobDeps } from '../operations/jobs/job-deps.ts';
import type { OperatorDeps } from '../operations/operators/pause-channel.ts';
import type { Act } from '../store/operator-store.ts';
import type { OpenAttention } from '../store/task-store.ts';
import { fromWireEnum } from './mapping-order.ts';
import { STATES } from './mapping-task.ts';
import { operateChannels, operatePauses } from './operate-channels.ts';
import { operateJobs, toJobRecord } from './operate-jobs.ts';
import { operateHandOver, operateSearch } from './operate-notes.ts';
import { operatePulse } from './operate-pulse.ts';
import { operateTasks, readTaskRecord } from './operate-tasks.ts';
import { emptyToUndefined, readLimit, toMessage } from './wire-message.ts';

/** The view for operators. Private facts of the upstreams leave this service only here. */
export function operatorService(
  deps: Deps,
  jobs: JobDeps,
  operate: OperatorDeps,
): Implementation<typeof OperatorService> {
  return {
    ...operateTasks(deps),
    ...operateJobs(jobs),
    ...operateAttention(deps, jobs, operate),
    ...operateChannels(deps, operate),
    ...operatePauses(operate),
    ...operateActs(operate),
    ...operatePulse(operate),
    ...operateSearch(deps, operate),
    ...operateHandOver(deps, jobs, operate),
  };
}

const ACTS_LIMIT = 50;

/** The view of the acts of operators. */
function operateActs({ operators }: OperatorDeps) {
  return {
    listActs: async ({ limit, after, subject }) => {
      const found = await operators.acts(
        { subject: emptyToUndefined(subject) },
        { limit: readLimit(limit, ACTS_LIMIT), after: emptyToUndefined(after) },
      );
      return { acts: found.map(toWireAct) };
    },
  } satisfies Partial<Implementation<typeof OperatorService>>;
}

function toWireAct({ id, at, actor, action, subject, reason, detailJson }: Act): WireAct {
  return toMessage(ActSchema, { id, at: timestampFromMs(at), actor, action, subject, reason, detailJson });
}

const RESOLUTION_WORDS = deriveWords(Resolution);

/** The tasks and jobs that wait for a person, and the decisions over them. */
function operateAttention(deps: Deps, jobs: JobDeps, { backlog }: OperatorDeps) {
  const { store } = deps;
  return {
    listAttention: async () => ({ items: (await store.listOpenAttention()).map(toWireItem) }),
    countAttention: async () => ({ waiting: BigInt((await backlog.countAttention()).count) }),
    resolveAttention: async ({ taskId, resolution, actor, reason }, { caller }) => {
      const decision = { resolution: fromWireEnum(RESOLUTION_WORDS, resolution), actor: actor || caller.name, reason };
      const job = await jobs.jobs.findJob(taskId);
      assertOwner(caller, (job ?? (await store.find(taskId)))?.accountId, 'task_id');
      if (job !== undefined) {
        await resolveJob(jobs, job, decision);
        return { jobRecord: toJobRecord(job) };
      }
      return { record: await readTaskRecord(deps, await resolveAttention(deps, taskId, decision)) };
    },
  } satisfies Partial<Implementation<typeof OperatorService>>;
}

function toWireItem(item: OpenAttention): WireItem {
  const { taskId, since, reason, detail, accountId, model, channel, state, isJob } = item;
  return toMessage(AttentionItemSchema, {
    taskId,
    since: timestampFromMs(since),
    reason,
    detail,
    accountId,
    model,
    channel,
    state: STATES[state],
    isJob,
  });
}
