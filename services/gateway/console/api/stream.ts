/**
 * What a page can hear of. `tasks`: any task of the account. `task:ID`: one. `webhooks`: deliveries of the account.
 * Operators hear of everybody's tasks, and of `now`, `attention` and `channels`.
 */
export type Topic = 'tasks' | `task:${string}` | 'webhooks' | 'now' | 'attention' | 'channels';

/** What has changed. The page reads it again, so the server's own filters and rights apply. */
export interface Change {
  /** `all`: anything may have changed. */
  readonly topic: Topic | 'all';
  /** The ids of the changed objects, at most 100; empty: more, or unknown ones. */
  readonly ids: readonly string[];
}
