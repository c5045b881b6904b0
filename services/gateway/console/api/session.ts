import type { OperatorStatus } from './operator-status.ts';

/** The visitor who is signed in at the client console. */
export interface Me {
  readonly accountId: string;
  readonly tokenId: string;
  readonly tokenName: string;
  /** The models that the token may use; `*` is every model. */
  readonly models: readonly string[];
  readonly webhooks: 'write' | 'read' | 'none';
  /** The right of the token on the tokens of its account. */
  readonly tokens: 'write' | 'read' | 'none';
  /** The clock of the service, in milliseconds since 1970. */
  readonly now: number;
}

/** The number of tasks and jobs that wait for a decision. */
export interface WaitingCount {
  /** At most 200. */
  readonly count: number;
  readonly hasMore: boolean;
}

/** The operator who is signed in at the operator console. */
export interface OperatorMe {
  readonly name: string;
  readonly role: 'viewer' | 'operator' | 'treasurer';
  /** The work that waits for a decision; undefined if it cannot be read now. */
  readonly waiting?: WaitingCount;
  /** The current fault, or undefined. */
  readonly status?: OperatorStatus;
  /** The clock of the service, in milliseconds since 1970. */
  readonly now: number;
}
