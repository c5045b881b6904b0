/**
 * The topics of the changes that a page can hear of. `tasks`: any task of the account. `task:ID`: one task.
 * `webhooks`: deliveries of the account. Operators hear of the tasks of every account, and of `now`, `attention` and
 * `channels`.
 */
export type Topic = 'tasks' | `task:${string}` | 'webhooks' | 'now' | 'attention' | 'channels';

/** A topic that has changed. The page reads it again, so the server's own filters and rights apply. */
export interface Change {
  /** `all`: anything may have changed. */
  readonly topic: Topic | 'all';
  /** The ids of the changed objects. Empty if there are more than 100 or they are not known. */
  readonly ids: readonly string[];
}
