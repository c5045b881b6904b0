import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Problem } from '@reelgate/platform/problem';
import { assertOwner } from '@reelgate/platform/rpc/access';
import type { Implementation } from '@reelgate/platform/rpc/service';
import { Resolution } from '@reelgate/proto/tasks/v1/operator_service';
import type { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import type { ChannelRuntime } from '../channels/channel-registry.ts';
import { channelScope } from '../domain/in-flight-scope.ts';
import { isTerminal } from '../domain/task.ts';
import type { Task } from '../domain/task.ts';
import { assertPosition } from '../operations/reads/assert-position.ts';
import type { Deps } from '../operations/deps.ts';
import type { JobDeps } from '../operations/jobs/job-deps.ts';
import { taskNotFound } from '../operations/task-refusals.ts';
import { resolveAttention } from '../operations/attention/resolve-attention.ts';
import { resolveJob } from '../operations/jobs/resolve-job.ts';
import { atMost, readLimit, readStateFilter } from './list-request.ts';
import { nameOf } from './mapping-order.ts';
import { toWireTask } from './mapping-task.ts';
import { jobRecord, operateJobs } from './operate-jobs.ts';

const LIST_LIMIT = { max: 1000, otherwise: 100 };
const HOLDS_MAX = 1000;
const TEST_TIMEOUT_MS = 20_000;
const RESOLUTIONS = { completed: Resolution.COMPLETED, failed: Resolution.FAILED, retry: Resolution.RETRY } as const;

/** What operators see; the only place where private upstream facts leave this service. */
export function operatorService(deps: Deps, jobs: JobDeps): Implementation<typeof OperatorService> {
  const { store, channels, clock } = deps;
  return {
    showTask: async ({ taskId }, { caller }) => {
      const task = await store.find(taskId);
      assertOwner(caller, task?.accountId, 'task_id');
      if (task === undefined) throw taskNotFound();
      return { record: await recordOf(deps, task) };
    },
    listTaskRecords: async ({ accountId, state, limit, after }) => {
      const named = readStateFilter(state);
      const page = { limit: readLimit(limit, LIST_LIMIT), after: after === '' ? undefined : after };
      if (after !== '') assertPosition(await store.find(after), accountId, 'task');
      const tasks = await store.list(
        {
          hidden: true,
          accountId: accountId === '' ? undefined : accountId,
          states: named === undefined ? [] : [named],
        },
        page,
      );
      return { records: await Promise.all(tasks.map((task) => recordOf(deps, task))) };
    },
    ...operateJobs(jobs),
    listAttention: async () => ({
      items: (await store.open()).map(({ since, ...item }) => ({ ...item, since: timestampFromMs(since) })),
    }),
    resolveAttention: async ({ taskId, resolution, actor }, { caller }) => {
      const decision = nameOf(RESOLUTIONS, resolution);
      if (decision === undefined)
        throw new Problem({
          kind: 'invalid',
          reason: 'invalid_request',
          field: 'resolution',
          message: 'must be completed, failed or retry',
        });
      const job = await jobs.jobs.findJob(taskId);
      assertOwner(caller, (job ?? (await store.find(taskId)))?.accountId, 'task_id');
      if (job !== undefined) {
        await resolveJob(jobs, job, { resolution: decision, actor });
        return { jobRecord: jobRecord(job) };
      }
      return { record: await recordOf(deps, await resolveAttention(deps, taskId, { resolution: decision, actor })) };
    },
    listChannels: async () => ({
      channels: await Promise.all(channels.all().map((runtime) => statusOf(deps, runtime))),
    }),
    testChannel: async ({ id }) => {
      const runtime = channels.find(id);
      if (runtime === undefined)
        throw new Problem({
          kind: 'not_found',
          reason: 'channel_not_found',
          message: 'no such channel; `channel list` shows all',
        });
      const begun = clock.now();
      const { ok, detail } = await runtime.channel.test(AbortSignal.timeout(TEST_TIMEOUT_MS));
      return { ok, detail, tookMs: BigInt(clock.now() - begun) };
    },
    classifyHolds: async (request) => {
      const taskIds = atMost(request.taskIds, HOLDS_MAX, 'task_ids');
      const found = new Map(
        (await store.list({ hidden: true, taskIds }, { limit: HOLDS_MAX })).map((task) => [task.id, task]),
      );
      return {
        finished: taskIds.filter((id) => endedSeen(found.get(id))),
        unknown: taskIds.filter((id) => !found.has(id) || found.get(id)?.admission === 'refused'),
      };
    },
  };
}

function endedSeen(task: Task | undefined): boolean {
  return task !== undefined && isTerminal(task.state) && task.admission !== 'refused';
}

async function recordOf({ store, clock }: Deps, task: Task) {
  const [attempts, events] = await Promise.all([store.attempts(task.id), store.events(task.id)]);
  return {
    task: toWireTask(task, clock.now()),
    tokenId: task.tokenId,
    admission: task.admission,
    upstreamStatus: task.upstreamStatus ?? '',
    attempts: attempts.map(({ number, channel, upstreamId = '', outcome, error = '', startedAt, endedAt }) => ({
      number,
      channel,
      upstreamId: upstreamId === '' && outcome === 'unknown' ? (task.mapping?.upstreamId ?? '') : upstreamId,
      outcome,
      error,
      startedAt: timestampFromMs(startedAt),
      ...(endedAt === undefined ? {} : { endedAt: timestampFromMs(endedAt) }),
    })),
    events: events.map(({ at, type, detailJson }) => ({ at: timestampFromMs(at), type, detailJson })),
  };
}

async function statusOf({ store }: Deps, { channel: { settings }, circuit }: ChannelRuntime) {
  return {
    id: settings.id,
    adapter: settings.adapter,
    upstreamAccount: settings.upstreamAccount,
    enabled: settings.enabled,
    circuit: circuit.state(),
    inFlight: await store.inFlight(channelScope(settings.id)),
    inFlightLimit: settings.inFlightMax,
    requestsPerMinute: settings.requestsPerMinute,
    priority: settings.priority,
    weight: settings.weight,
    models: Object.keys(settings.models),
    endpoints: [...settings.endpoints],
  };
}
