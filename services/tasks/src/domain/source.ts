import type { Fault } from './fault.ts';
import type { Task } from './task.ts';

/**
 * The largest area of a source, as one of its shapes, and the number that both must be multiples of (vendor contract
 * §3).
 */
const [WIDTH_MAX, HEIGHT_MAX] = [1344, 768];
const SIDE_MULTIPLE = 32;
const RESOLUTION = '768P';

/**
 * Returns the reason why a task cannot be the source of a regeneration; undefined if it can. The caller has checked
 * the owner of the task.
 */
export function sourceFault(source: Task): Fault | undefined {
  const describeUnsupported = (message: string): Fault => ({
    reason: 'source_task_unsupported',
    field: 'source_task_id',
    message,
  });
  if (source.order.kind !== 'generation') return describeUnsupported('must name a video generation task');
  if (source.state === 'failed') return describeUnsupported('must name a completed task; this task failed');
  if (source.state !== 'completed')
    return {
      reason: 'source_task_not_ready',
      field: 'source_task_id',
      message: 'must name a completed task; this task has not finished yet',
    };
  if (source.order.resolution !== RESOLUTION)
    return describeUnsupported(
      `must name a task with a ${RESOLUTION} result; only such a result can be rendered at 2K`,
    );
  return meetsOutputConstraints(source)
    ? undefined
    : describeUnsupported(
        `must name a task whose result has at most ${WIDTH_MAX}x${HEIGHT_MAX} pixels ` +
          `and sides that are multiples of ${SIDE_MULTIPLE}`,
      );
}

function meetsOutputConstraints({ result }: Task): boolean {
  const { width = 0, height = 0 } = result ?? {};
  if (width === 0 || height === 0) return false;
  return width * height <= WIDTH_MAX * HEIGHT_MAX && width % SIDE_MULTIPLE === 0 && height % SIDE_MULTIPLE === 0;
}
