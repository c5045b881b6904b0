import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { assertOwner } from '@reelgate/platform/rpc/access';
import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import type { Implementation } from '@reelgate/platform/rpc/service';
import { Resolution } from '@reelgate/proto/tasks/v1/operator_service';
import type { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { readSameDecision, resolveAttention, resolveJob } from '../operations/attention/resolve-attention.ts';
import type { Deps } from '../operations/deps.ts';
import type { JobDeps } from '../operations/jobs/job-deps.ts';
import type { OperatorDeps } from '../operations/operators/pause-channel.ts';
import { fromWireEnum } from './mapping-order.ts';
import { operateChannels, operatePauses } from './operate-channels.ts';
import { operateJobs, toJobRecord } from './operate-jobs.ts';
import { operateHandOver, operateSearch } from './operate-notes.ts';
import { operateActivity } from './operate-activity.ts';
import { operateTasks, readTaskRecord } from './operate-tasks.ts';
import { emptyToUndefined, readLimit } from './request-fields.ts';

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
    ...operateActivity(operate),
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
      return { acts: [...found] };
    },
  } satisfies Partial<Implementation<typeof OperatorService>>;
}

const RESOLUTION_WORDS = deriveWords(Resolution);

/** The tasks and jobs that wait for a person, and the decisions over them. */
function operateAttention(deps: Deps, jobs: JobDeps, { backlog, operators, clock }: OperatorDeps) {
  const { store } = deps;
  return {
    listAttention: async () => ({ items: [...(await store.listOpenAttention())] }),
    countAttention: async () => ({ waiting: BigInt((await backlog.countAttention()).count) }),
    resolveAttention: async ({ taskId, resolution, actor, reason }, { caller }) => {
      const decision = { resolution: fromWireEnum(RESOLUTION_WORDS, resolution), actor: actor || caller.name, reason };
      const job = await jobs.jobs.findJob(taskId);
      assertOwner(caller, (job ?? (await store.find(taskId)))?.accountId, 'task_id');
      const made = job === undefined ? resolveAttention(deps, taskId, decision) : resolveJob(jobs, job, decision);
      const at = await made.then(
        () => clock.now(),
        (refusal: unknown) => readSameDecision(operators, taskId, decision, refusal),
      );
      const decidedAt = timestampFromMs(at);
      if (job !== undefined) return { decidedAt, jobRecord: toJobRecord(job) };
      const task = await store.find(taskId);
      return { decidedAt, ...(task && { record: await readTaskRecord(deps, task) }) };
    },
  } satisfies Partial<Implementation<typeof OperatorService>>;
}
