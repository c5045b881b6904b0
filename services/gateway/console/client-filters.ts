import type { Filters } from './filters.ts';

/** The filters of a client's tasks, as they stand in the address and in the call, in the order of the page. */
export const TASK_FILTERS = {
  find: { type: 'search', most: 500 },
  state: { type: 'select' },
  kind: { type: 'select' },
  model: { type: 'text', most: 256 },
  token: { type: 'text', most: 256 },
  label: { type: 'text', most: 64 },
  from: { type: 'date' },
  to: { type: 'date' },
} as const satisfies Filters;

export type TaskFilterName = keyof typeof TASK_FILTERS;
