import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Event } from '@reelgate/proto/tasks/v1/webhook';
import { fromWireJob } from './jobs-client.ts';
import type { Job } from './jobs-client.ts';
import type { Task } from './tasks-client.ts';

/** An event as a client receives it. */
export interface ClientEvent {
  readonly id: string;
  readonly type: string;
  /** A task, a job or an account. */
  readonly subjectId: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Further members of the event's data, as a JSON object. Empty if there are none. */
  readonly dataJson: string;
  /** The subject in its current state, undefined if it was not requested or is no longer stored. */
  readonly subject: { readonly task: Task } | { readonly job: Job } | undefined;
}

export function fromWireEvent({ id, type, subjectId, createdAt, dataJson, subject }: Event): ClientEvent {
  return {
    id,
    type,
    subjectId,
    createdAt: createdAt === undefined ? 0 : timestampMs(createdAt),
    dataJson,
    subject: fromWireSubject(subject),
  };
}

function fromWireSubject(subject: Event['subject']): ClientEvent['subject'] {
  if (subject.case === 'task') return { task: subject.value };
  return subject.case === 'job' ? { job: fromWireJob(subject.value) } : undefined;
}

/** The types of events that a client can subscribe to. */
export const EVENT_TYPES: readonly string[] = [
  'video.completed',
  'video.failed',
  'job.completed',
  'job.failed',
  'batch.completed',
  'batch.failed',
  'batch.expired',
  'batch.cancelled',
  'balance.low',
];
