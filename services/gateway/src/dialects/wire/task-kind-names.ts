import { TaskKind } from '@reelgate/proto/tasks/v1/order';

/** What a task does, in this service's words. */
export const TASK_KIND_NAMES: Readonly<Record<TaskKind, string>> = {
  [TaskKind.UNSPECIFIED]: 'generation',
  [TaskKind.GENERATION]: 'generation',
  [TaskKind.REGENERATION]: 'regeneration',
  [TaskKind.CONTEXT_IR]: 'context_ir',
};
