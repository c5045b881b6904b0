import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
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
import { operateJobs, toJobRecord, operateTasks, readTaskRecord } from './operate-work.ts';
import { readActivity, readFaults } from '../operations/activity/read-activity.ts';
import { emptyToUndefined, readLimit } from './request-fields.ts';
import { requireField } from '@reelgate/platform/rpc/rules';
import { findWork } from '../operations/operators/find-work.ts';
import { markRead, readHandOver, addNote, deleteNote, resolveNote } from '../operations/operators/hand-over.ts';

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

/** Searches by ids. */
function operateSearch({ store, channels }: Deps, { operators }: OperatorDeps) {
  return {
    findWork: async ({ value }) => ({ found: await findWork({ operators, tasks: store, channels }, value) }),
  } satisfies Partial<Implementation<typeof OperatorService>>;
}

/** The hand-over to the next operator: events and notes. */
function operateHandOver({ store }: Deps, { jobs }: JobDeps, operate: OperatorDeps) {
  const isKnown = async (subject: string): Promise<boolean> =>
    operate.channelIds().includes(subject) ||
    (await store.find(subject)) !== undefined ||
    (await jobs.findJob(subject)) !== undefined;
  const notes = { ...operate, isKnown };
  return {
    getHandOver: ({ actor }, { caller }) => readHandOver(operate, actor || caller.name),
    markHandOver: async ({ actor, until }, { caller }) => {
      const readUntil = await markRead(operate, actor || caller.name, timestampMs(requireField(until, 'until')));
      return { readUntil: timestampFromMs(readUntil) };
    },
    listNotes: async ({ subject }) => ({ notes: [...(await operate.operators.notes(subject))] }),
    addNote: async ({ subject, actor, text }, { caller }) => ({
      note: await addNote(notes, { subject, author: actor || caller.name, text: text.trim() }),
    }),
    resolveNote: async ({ id, actor }, { caller }) => {
      await resolveNote(notes, { id, actor: actor || caller.name });
      return {};
    },
    deleteNote: async ({ id, actor }, { caller }) => {
      await deleteNote(notes, { id, actor: actor || caller.name });
      return {};
    },
  } satisfies Partial<Implementation<typeof OperatorService>>;
}

const FAILURES_LIMIT = 20;

/** The view of the last hour, and of the current backlog. */
function operateActivity(operate: OperatorDeps) {
  return {
    getActivity: () => readActivity(operate),
    getFaults: () => readFaults(operate.operators, operate.clock),
    listChannelFailures: async ({ channel, limit }) => ({
      failures: [...(await operate.operators.channelFailures(channel, readLimit(limit, FAILURES_LIMIT)))],
    }),
  } satisfies Partial<Implementation<typeof OperatorService>>;
}
