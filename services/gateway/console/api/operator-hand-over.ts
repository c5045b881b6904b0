import type { Act } from './operator-acts.ts';
import type { OperatorNote } from '../../src/domain/operator-records.ts';

export type { OperatorNote } from '../../src/domain/operator-records.ts';

/** GET /notes. Query: `subject`. POST /notes {subject, text}, POST /notes/{id}/resolve and DELETE /notes/{id} answer {}. */
export interface NoteList {
  readonly notes: readonly OperatorNote[];
  readonly canWrite: boolean;
  /** The name that the notes of the visitor have. */
  readonly you: string;
}

/** Something that happened, by what made it known. */
export type HandOverEntry =
  | { readonly kind: 'act'; readonly at: number; readonly act: Act }
  | {
      readonly kind: 'event';
      readonly at: number;
      readonly type: string;
      /** A channel. */
      readonly subject: string;
      /** The services that took a configuration up. */
      readonly services?: readonly string[];
    }
  | {
      readonly kind: 'raised';
      readonly at: number;
      readonly taskId: string;
      readonly reason: string;
      readonly isOpen: boolean;
    };

/** GET /hand-over: what happened since the visitor has read last, the newest first. */
export interface HandOverView {
  /** The begin of what is shown: at most a week ago. */
  readonly since: number;
  /** Undefined: the visitor has read nothing yet. */
  readonly readUntil?: number;
  readonly entries: readonly HandOverEntry[];
  readonly hasMore: boolean;
  /** The acts of operators cannot be read now, so nothing should be marked as read. */
  readonly areActsUnread?: true;
  readonly you: string;
  /** The mark for POST /hand-over {until}: nothing after it is shown. */
  readonly now: number;
}
