import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { EventSchema } from '@reelgate/proto/tasks/v1/webhook';
import type { ClientEvent } from '../domain/webhook.ts';
import type { Subject } from '../operations/webhooks/event-subjects.ts';
import { toWireJob } from './mapping-job.ts';
import { toWireTask } from './mapping-task.ts';

/** An event, with its subject as it is now. */
export function toWireEvent(
  { id, accountId, type, subjectId, createdAt, dataJson = '' }: ClientEvent,
  subject: Subject | undefined,
  now: number,
): MessageInitShape<typeof EventSchema> {
  return {
    id,
    accountId,
    type,
    subjectId,
    createdAt: timestampFromMs(createdAt),
    dataJson,
    ...(subject === undefined ? {} : { subject: toWireSubject(subject, now) }),
  };
}

function toWireSubject(subject: Subject, now: number) {
  return 'task' in subject
    ? { case: 'task' as const, value: toWireTask(subject.task, now) }
    : { case: 'job' as const, value: toWireJob(subject.job) };
}
