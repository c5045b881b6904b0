import type { Filters } from './filters.ts';

/** The filters of the tasks of every account, as they stand in the address and in the call, in the order of the page. */
export const OPERATOR_TASK_FILTERS = {
  find: { type: 'search', most: 256 },
  account: { type: 'text', most: 256 },
  state: { type: 'select' },
  kind: { type: 'select' },
  model: { type: 'text', most: 256 },
  channel: { type: 'text', most: 128 },
  from: { type: 'date' },
  to: { type: 'date' },
} as const satisfies Filters;

export type OperatorTaskFilterName = keyof typeof OPERATOR_TASK_FILTERS;
