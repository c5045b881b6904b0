import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { TimelineStep } from '@reelgate/proto/tasks/v1/timeline';
import type { TimelineEntrySchema } from '@reelgate/proto/tasks/v1/timeline';
import type { Step, TimelineEntry } from '../domain/rules/timeline.ts';

const STEPS: Readonly<Record<Step, TimelineStep>> = {
  created: TimelineStep.CREATED,
  prepared: TimelineStep.PREPARED,
  submitted: TimelineStep.SUBMITTED,
  queued: TimelineStep.QUEUED,
  in_progress: TimelineStep.IN_PROGRESS,
  checked: TimelineStep.CHECKED,
  fetched: TimelineStep.FETCHED,
  completed: TimelineStep.COMPLETED,
  failed: TimelineStep.FAILED,
};

export function toWireEntry({ step, from, to }: TimelineEntry): MessageInitShape<typeof TimelineEntrySchema> {
  return { step: STEPS[step], from: timestampFromMs(from), ...(to === undefined ? {} : { to: timestampFromMs(to) }) };
}
