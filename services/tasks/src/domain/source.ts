import type { Fault } from './fault.ts';
import type { Task } from './task.ts';

/** Width times height that a source may have at most, and what both must divide by (vendor contract §3). */
const AREA_MAX = 1344 * 768;
const SIDE_MULTIPLE = 32;
const RESOLUTION = '768P';

/** Whether a task of the caller's can be the source of a regeneration; ownership has been checked before. */
export function sourceFault(source: Task): Fault | undefined {
  const unsupported = (message: string): Fault => ({
    reason: 'source_task_unsupported',
    field: 'source_task_id',
    message,
  });
  if (source.order.kind !== 'generation') return unsupported('must name a video generation task');
  if (source.state === 'failed') return unsupported('must name a task that succeeded; it failed');
  if (source.state !== 'completed')
    return {
      reason: 'source_task_not_ready',
      field: 'source_task_id',
      message: 'must name a completed task; it is not finished yet',
    };
  if (source.order.resolution !== RESOLUTION)
    return unsupported(`must name a ${RESOLUTION} result; only that is rendered again at 2K`);
  return meetsOutputConstraints(source)
    ? undefined
    : unsupported(`must name a result within the ${RESOLUTION} constraints of the model`);
}

function meetsOutputConstraints({ result }: Task): boolean {
  const { width = 0, height = 0 } = result ?? {};
  if (width === 0 || height === 0) return false;
  return width * height <= AREA_MAX && width % SIDE_MULTIPLE === 0 && height % SIDE_MULTIPLE === 0;
}
