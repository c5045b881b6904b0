/** The kinds of things that a search finds. */
export type FoundKind = 'task' | 'job' | 'account' | 'token' | 'channel';

/** The way in which it was found. */
export type FoundWay = 'id' | 'upstream_id' | 'request_id' | 'trace_id' | 'prefix' | 'words' | 'hint';

/** A thing that a search finds. */
export interface SearchHit {
  readonly kind: FoundKind;
  readonly id: string;
  readonly by: FoundWay;
  /** The page that shows it. */
  readonly href: string;
  /** The account, and the model of a task or a job. */
  readonly accountId?: string;
  readonly model?: string;
  readonly state?: string;
  readonly createdAt?: number;
  /** The name of a token, or the beginning of a prompt. */
  readonly text?: string;
}

/** GET /search. Query: `q`. */
export interface SearchAnswer {
  readonly found: readonly SearchHit[];
  /** The page to go to at once: the one thing that has the id. */
  readonly href?: string;
  /** Places that could not be searched now. */
  readonly unavailable: readonly ('tasks' | 'accounts' | 'tokens' | 'channels' | 'words')[];
}
