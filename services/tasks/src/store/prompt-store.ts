import type { Order } from '../domain/order.ts';
import type { TaskIdentity } from '../domain/task.ts';

/** The places up to which the prompts of tasks have been read for the search by words. */
export interface PromptReading {
  /** The place of the last event of an end that was read. */
  readonly endedSeq: number;
  /** The last new task that was read. */
  readonly seenId: string;
}

/** The events after a place. */
export interface EndsAfter {
  /** The tasks that ended. */
  readonly taskIds: readonly string[];
  /** The place of the last event, undefined if there is no event. */
  readonly lastSeq: number | undefined;
  /** The time of the first event. */
  readonly firstAt: number | undefined;
}

export interface UnreadPrompt extends TaskIdentity {
  readonly order: Order;
}

/** The words of a task for the search. */
export interface PromptWords extends TaskIdentity {
  readonly words: readonly string[];
}

/** The words of prompts. They are read after the create of a task, so that no create waits for it. */
export interface PromptStore {
  getPromptReading(): Promise<PromptReading>;
  listEndsAfter(afterSeq: number, limit: number): Promise<EndsAfter>;
  /** The next tasks in the order of their ids. */
  listNewPrompts(range: {
    readonly after: string;
    readonly before: string;
    readonly limit: number;
  }): Promise<readonly UnreadPrompt[]>;
  /** The tasks among these with unread prompts. */
  listUnreadPrompts(taskIds: readonly string[]): Promise<readonly UnreadPrompt[]>;
  /** Writes words and how far the reading has come, unless another process has come further. Returns whether it wrote. */
  keepPromptWords(from: PromptReading, to: PromptReading, prompts: readonly PromptWords[]): Promise<boolean>;
  /** Words of tasks with an id before this one that are removed. */
  listLeftWords(before: string, limit: number): Promise<readonly PromptWords[]>;
  removeWords(prompts: readonly PromptWords[]): Promise<void>;
}
