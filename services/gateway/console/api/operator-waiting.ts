import type { WaitingWork } from '../../src/domain/waiting-work.ts';

export type {
  QueueClass,
  QueuedPlace,
  WaitReason,
  WaitingAccount,
  WaitingChange,
  WaitingChangeAnswer,
  WaitingChangeRequest,
  WaitingLane,
} from '../../src/domain/waiting-work.ts';

/** GET /queue. POST /queue/{change} takes a `WaitingChangeRequest`. */
export interface WaitingList extends WaitingWork {
  readonly canOperate: boolean;
  readonly now: number;
}
