import { queuedMsDefault, runningMsDefault } from '../limits.ts';

/** The answer to the create. Only `task_id`, `silence` and `cut` create a task. */
export type CreateAnswer =
  | { readonly as: 'task_id' | 'silence' | 'cut' }
  | { readonly as: 'page' }
  | { readonly as: 'no_id' }
  | { readonly as: 'base_resp' | 'refusal' | 'refusal_once'; readonly number: number };

export type TaskEnd =
  | { readonly as: 'succeeded' | 'cancelled' | 'expired' | 'never' }
  | { readonly as: 'failed'; readonly code: string }
  | { readonly as: 'other'; readonly status: string };

/** The fault of the first reads of a task, and the number of reads that have it. */
export type ReadTrouble = { readonly times: number } & (
  { readonly as: 'page' | 'cut' } | { readonly as: 'refusal'; readonly number: number }
);

/** The behaviour that a prompt asks of its task. */
export type Script = {
  readonly answer: CreateAnswer;
  readonly answerAfterMs: number;
  readonly sourceIdsAllowed: boolean;
  readonly queuedMs: number;
  readonly runningMs: number;
  readonly ending: TaskEnd;
  readonly recoverAfterMs: number | undefined;
  readonly reads: ReadTrouble | undefined;
  readonly usage: { readonly told: boolean; readonly seconds?: number; readonly tokens?: number };
  readonly result: 'whole' | 'absent' | 'dead' | 'page' | 'torn';
  readonly pushes: boolean;
};

export const plainScript: Script = {
  answer: { as: 'task_id' },
  answerAfterMs: 0,
  sourceIdsAllowed: true,
  queuedMs: queuedMsDefault,
  runningMs: runningMsDefault,
  ending: { as: 'succeeded' },
  recoverAfterMs: undefined,
  reads: undefined,
  usage: { told: true },
  result: 'whole',
  pushes: true,
};
