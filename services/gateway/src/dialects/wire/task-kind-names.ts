import { TaskKind } from '@reelgate/proto/tasks/v1/order';

/** This service's names for the kinds of tasks. */
export const TASK_KIND_NAMES: Readonly<Record<TaskKind, string>> = {
  [TaskKind.UNSPECIFIED]: 'generation',
  [TaskKind.GENERATION]: 'generation',
  [TaskKind.REGENERATION]: 'regeneration',
  [TaskKind.CONTEXT_IR]: 'context_ir',
};
