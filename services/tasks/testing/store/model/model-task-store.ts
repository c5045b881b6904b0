import type { PromptStore } from '../../../src/store/prompt-store.ts';
import type { QueueOperatorStore } from '../../../src/store/queue-store.ts';
import type { StepStore, TaskStore } from '../../../src/store/task-store.ts';
import { modelCreates } from './model-creates.ts';
import { modelMoves } from './model-moves.ts';
import { modelQueue } from './model-queue.ts';
import type { QueueRules } from './model-queue.ts';
import { modelChanges, modelReads } from './model-reads.ts';
import type { ModelState } from './model-state.ts';
import { modelAttention, modelDeadlines, modelProcesses, modelRetention } from './model-sweeps.ts';

/** A step of a list may end where it likes, so it is no part of a reference. The ports of the operators and of the search are none either. */
export type ModelledStore = Omit<TaskStore, keyof StepStore | keyof QueueOperatorStore | keyof PromptStore> &
  QueueRules;

/**
 * The port of tasks in memory: what the contract says, in plain code that shares nothing with the statements. It is the
 * reference for drawn sequences of calls. Lists without an order of their own come in any order.
 */
export function modelTaskStore(state: ModelState): ModelledStore {
  return {
    ...modelCreates(state),
    ...modelReads(state),
    ...modelChanges(state),
    ...modelMoves(state),
    ...modelQueue(state),
    ...modelAttention(state),
    ...modelDeadlines(state),
    ...modelProcesses(state),
    ...modelRetention(state),
  };
}
