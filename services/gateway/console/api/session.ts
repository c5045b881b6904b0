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

/** How many tasks and jobs wait for a decision. */
export interface Waiting {
  /** At most 200. */
  readonly count: number;
  readonly hasMore: boolean;
}

/** The operator who is signed in at the operator console. */
export interface OperatorMe {
  readonly name: string;
  readonly role: 'viewer' | 'operator' | 'treasurer';
  /** What waits for a decision; undefined: it cannot be read now. */
  readonly waiting?: Waiting;
  /** The clock of the service, in milliseconds since 1970. */
  readonly now: number;
}
