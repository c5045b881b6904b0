import type { RpcAnswer, RpcRequest } from '../../../api/calls.ts';
import { addDays } from '../../../parts/period.ts';
import { toEnumName } from '../../../parts/contract-values.ts';
import { ApiError } from '../../../state/api.ts';
import { sendCall, toCall } from '../../../state/calls.ts';
import { words } from '../../../words.ts';

const PAGE = 50;
const TASK_ID = /^task_[0-9a-v]{26}$/;

export type TaskRecord = RpcAnswer<'tasks.OperatorService/ListTaskRecords'>['records'][number];
export type Charge = RpcAnswer<'billing.BillingService/ListCharges'>['charges'][number];

/** A page of the tasks of every account. */
export interface FoundTasks {
  readonly records: readonly TaskRecord[];
  /** Empty if billing cannot be read now. */
  readonly charges: readonly Charge[];
  /** The last task that was examined; empty if no older ones remain. */
  readonly continueAfter: string;
}

/** Reads a page of tasks and then their charges. A task that is searched by its id is found whatever the filters say. */
export async function findTasks(query: URLSearchParams, signal: AbortSignal | undefined): Promise<FoundTasks> {
  const taskId = readTaskId(query);
  const found =
    taskId === undefined
      ? await sendCall(toCall('tasks.OperatorService/ListTaskRecords', toRecordsRequest(query)), signal)
      : { records: await findTask(taskId, signal), continueAfter: '' };
  const { records, continueAfter } = found;
  return { records, continueAfter, charges: await readCharges(records, signal) };
}

/** The task id that is searched; undefined if the search is for something else. */
export function readTaskId(query: URLSearchParams): string | undefined {
  const find = query.get('find') ?? '';
  return TASK_ID.test(find) ? find : undefined;
}

/** The request for a page of tasks. An upstream id is searched without the other filters. */
export function toRecordsRequest(query: URLSearchParams): RpcRequest<'tasks.OperatorService/ListTaskRecords'> {
  const read = (name: string): string => query.get(name) ?? '';
  const shape = { limit: PAGE, brief: true, inSteps: true };
  if (read('find') !== '') return { ...shape, upstreamId: read('find') };
  const [from, to] = [read('from'), read('to')];
  return {
    ...shape,
    ...{ accountId: read('account'), model: read('model'), channel: read('channel'), after: read('after') },
    state: toEnumName('TASK_STATE_', readChoice(query.get('state'), words.states)),
    kind: toEnumName('TASK_KIND_', readChoice(query.get('kind'), words.kinds)),
    ...(from === '' ? {} : { createdFrom: addDays(from, 0) }),
    ...(to === '' ? {} : { createdBefore: addDays(to, 1) }),
  };
}

function readChoice<N extends string>(value: string | null, names: Readonly<Record<N, string>>): N | 'unspecified' {
  return (Object.keys(names) as N[]).find((name) => name === value) ?? 'unspecified';
}

async function findTask(taskId: string, signal: AbortSignal | undefined): Promise<readonly TaskRecord[]> {
  try {
    const { record } = await sendCall(toCall('tasks.OperatorService/ShowTask', { taskId }), signal);
    return record === undefined ? [] : [record];
  } catch (error) {
    if (error instanceof ApiError && error.code === 'task_not_found') return [];
    throw error;
  }
}

/** Reads the charges of tasks. The list is shown without them while billing is away. */
async function readCharges(
  records: readonly TaskRecord[],
  signal: AbortSignal | undefined,
): Promise<readonly Charge[]> {
  if (records.length === 0) return [];
  const taskIds = records.map(({ task }) => task?.id ?? '');
  try {
    return (await sendCall(toCall('billing.BillingService/ListCharges', { taskIds }), signal)).charges;
  } catch {
    return [];
  }
}

/**
 * The time back to which an answer has searched; undefined for a full page, and where no older tasks remain. The first
 * ten letters of an id are 48 bits of its time and two others.
 */
export function readSearchedTo({ records, continueAfter }: FoundTasks): number | undefined {
  const letters = /_([0-9a-v]{10})[0-9a-v]{16}$/.exec(continueAfter)?.[1];
  return letters === undefined || records.length === PAGE ? undefined : Math.floor(parseInt(letters, 32) / 4);
}
