import { isProblem } from '@reelgate/platform/problem';
import type { GetHoldResponse } from '@reelgate/proto/billing/v1/billing_service';
import type { TaskRecord } from '@reelgate/proto/tasks/v1/operator_service';
import type { Services } from '../connect-services.ts';

/** The hold and the settlement of a task; undefined if the task was refused before its hold. */
export async function readMoney(
  { billing }: Pick<Services, 'billing'>,
  { task }: TaskRecord,
): Promise<GetHoldResponse | undefined> {
  try {
    return await billing.getHold({ taskId: task?.id ?? '' });
  } catch (error) {
    if (!isProblem(error) || error.kind !== 'not_found') throw error;
    return undefined;
  }
}
