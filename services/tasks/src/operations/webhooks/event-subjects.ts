import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Clock } from '@reelgate/platform/clock';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { EventSchema, WebhookPayload } from '@reelgate/proto/tasks/v1/webhook';
import type { Event as WireEvent } from '@reelgate/proto/tasks/v1/webhook';
import type { ClientEvent, EventType } from '../../domain/webhook.ts';
import type { JobReader } from '../../store/job-store.ts';
import type { TaskLister } from '../../store/task-store.ts';
import { toWireJob, toWireTask } from '../reads/work-messages.ts';

/** The value of each word of a payload. */
export const PAYLOADS = deriveValues(WebhookPayload);

/** Tasks that one read names, and jobs that are read at one time. */
const TASKS_MAX = 200;
const JOBS_MAX = 16;

export interface SubjectDeps {
  readonly tasks: TaskLister;
  readonly jobs: JobReader;
  readonly clock: Clock;
}

/** An event, or as much of it as names its subject. */
interface EventAbout {
  readonly accountId: string;
  readonly type: EventType;
  readonly subjectId: string;
}

/** The task or job that an event is about, as it is now. */
export type Subject = WireEvent['subject'];

/** The subjects of events by their ids, as far as they are kept and their owner may see them. */
export async function findSubjects(
  { tasks, jobs, clock }: SubjectDeps,
  events: readonly EventAbout[],
): Promise<ReadonlyMap<string, Subject>> {
  const found = new Map<string, Subject>();
  const owners = new Map(events.map(({ subjectId, accountId }) => [subjectId, accountId]));
  for (const taskIds of chunks(TASKS_MAX, listSubjectIds(events, 'video.')))
    for (const task of await tasks.list({ taskIds }, { limit: taskIds.length }))
      if (owners.get(task.id) === task.accountId)
        found.set(task.id, { case: 'task', value: toWireTask(task, clock.now()) });
  for (const jobIds of chunks(JOBS_MAX, listSubjectIds(events, 'job.')))
    for (const job of await Promise.all(jobIds.map((jobId) => jobs.findJob(jobId))))
      if (job !== undefined && owners.get(job.id) === job.accountId)
        found.set(job.id, { case: 'job', value: toWireJob(job) });
  return found;
}

function listSubjectIds(events: readonly EventAbout[], family: 'video.' | 'job.'): readonly string[] {
  return [...new Set(events.filter(({ type }) => type.startsWith(family)).map(({ subjectId }) => subjectId))];
}

function chunks<T>(size: number, all: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}

/** An event, with its subject as it is now. */
export function toWireEvent(event: ClientEvent, subject: Subject | undefined): WireEvent {
  const { id, accountId, type, subjectId, createdAt, dataJson } = event;
  return toMessage(EventSchema, {
    id,
    accountId,
    type,
    subjectId,
    createdAt: timestampFromMs(createdAt),
    dataJson,
    subject,
  });
}
