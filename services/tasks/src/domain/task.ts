import type { Order } from './order.ts';

export type State = 'queued' | 'in_progress' | 'completed' | 'failed';

/**
 * Where a create stands: `submitting` until an upstream took it, then `accepted`; `refused` when none did (no client ever sees it);
 * `unknown` when the answer to a submission was lost.
 */
export type Admission = 'submitting' | 'accepted' | 'refused' | 'unknown';

/** The private pair that names the work upstream. */
export interface Mapping {
  readonly channel: string;
  readonly upstreamAccount: string;
  /** Absent while the outcome of the submission is unknown. */
  readonly upstreamId?: string | undefined;
}

/** What the upstream reports to have used. */
export interface Usage {
  readonly totalSeconds?: number | undefined;
  readonly inputSeconds?: number | undefined;
  readonly outputSeconds?: number | undefined;
  readonly inputImageCount?: number | undefined;
  readonly inputAudioSeconds?: number | undefined;
  readonly totalTokens?: number | undefined;
  readonly promptTokens?: number | undefined;
  readonly completionTokens?: number | undefined;
}

/** What a completed task gives: a stored video, or a prompt. */
export interface Result {
  readonly object?: string | undefined;
  readonly prompt?: string | undefined;
  readonly bytes?: number | undefined;
  readonly mediaType?: string | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly durationMs?: number | undefined;
  readonly frameRate?: number | undefined;
}

/** Why it failed, in words for the client. */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

/** A medium as it was checked and frozen. */
export interface StagedMedia {
  readonly object: string;
  readonly mediaType: string;
  readonly durationMs: number;
}

export interface Task {
  readonly id: string;
  readonly accountId: string;
  readonly tokenId: string;
  readonly order: Order;
  readonly admission: Admission;
  readonly state: State;
  /** The upstream's last status word; private unless it is unrecognised. */
  readonly upstreamStatus?: string | undefined;
  /** Whether that word is none of those that the adapter knows. */
  readonly unrecognised: boolean;
  readonly progress: number;
  /** Milliseconds since 1970, like every time here. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly finishedAt?: number | undefined;
  readonly expiresAt?: number | undefined;
  readonly mapping?: Mapping | undefined;
  /** What the media of the order were frozen as, by the place of each in its content. */
  readonly staged?: Readonly<Record<number, StagedMedia>> | undefined;
  readonly result?: Result | undefined;
  readonly failure?: Failure | undefined;
  readonly usage?: Usage | undefined;
  /** Whole seconds that the task is measured by. */
  readonly seconds: number;
  readonly nextPollAt?: number | undefined;
  /** Polls that failed since the last one that did not. */
  readonly pollErrors: number;
  readonly doubt?: Doubt | undefined;
}

/** What looks at a task have said against it, so many in a row; those that said nothing of the work stand between them and count for nothing. */
export interface Doubt {
  readonly reason: 'unknown_upstream_task' | 'no_result' | 'result_unavailable';
  readonly polls: number;
}

export function isTerminal(state: State): boolean {
  return state === 'completed' || state === 'failed';
}
