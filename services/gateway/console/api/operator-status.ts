/** The alert that has the section of the runbook. */
export type Runbook =
  | 'ReelgateServiceAbsent'
  | 'ReelgatePeerUnreachable'
  | 'ReelgateNoChannel'
  | 'ReelgateChannelDown'
  | 'ReelgateChannelRefuses'
  | 'ReelgatePollLag'
  | 'ReelgateSettlementBehind'
  | 'ReelgateAttentionWaiting'
  | 'ReelgateConfigRefused';

/** The worst fault of now, the cause first. It stands in one line on every page. */
export interface OperatorStatus {
  readonly grade: 'warn' | 'fail';
  /** The fault, in a sentence without its end. */
  readonly what: string;
  /** The time at which the fault began, or undefined if it is not known. */
  readonly since?: number;
  /** The affected models and accounts, undefined if they are not known or all are affected. */
  readonly hit?: WhoIsHit;
  readonly runbook: Runbook;
  /** The page of the console that shows it. */
  readonly href: string;
  /** The number of further faults. */
  readonly more: number;
}

/** The models and accounts with faults of the last ten minutes, those with the most first. */
export interface WhoIsHit {
  /** At most three. */
  readonly models: readonly string[];
  readonly moreModels: number;
  /** At most three. */
  readonly accounts: readonly string[];
  readonly moreAccounts: number;
}

/** GET /runbooks/{alert}: the section of the runbook, as Markdown. */
export interface RunbookSection {
  readonly alert: string;
  readonly text: string;
}
