import type { Failure, State, Usage } from './task.ts';

/** A header that the URL of a result requires. */
export interface ResultCredential {
  /** In lower case. */
  readonly header: string;
  readonly value: { reveal(): string };
}

/** The report of an upstream about its work, independent of its API. */
export type Report =
  | { readonly phase: 'queued' | 'running'; readonly status: string; readonly progress?: number | undefined }
  | SuccessReport
  | {
      readonly phase: 'failed';
      readonly status: string;
      readonly failure: Failure;
      /** The charge of the upstream in millionths of a US dollar; undefined if it does not say it. */
      readonly costMicroUsd?: number | undefined;
      readonly endedAt?: number | undefined;
    }
  | { readonly phase: 'unrecognised'; readonly status: string };

/** A success without a result counts as unfinished: the upstream is polled again. */
export interface SuccessReport {
  readonly phase: 'succeeded';
  readonly status: string;
  readonly url?: string | undefined;
  readonly credential?: ResultCredential | undefined;
  /** The JSON pointer of the Base64 text that holds the video, if the answer of the URL is JSON. */
  readonly base64At?: string | undefined;
  /** The URL of the picture of the last frame, if the order asked for it. */
  readonly lastFrameUrl?: string | undefined;
  /** The time in milliseconds since 1970 after which the URLs are dead, if it is known. */
  readonly urlDiesAt?: number | undefined;
  readonly prompt?: string | undefined;
  readonly usage?: Usage | undefined;
  /** The charge of the upstream in millionths of a US dollar; undefined if it does not say it. */
  readonly costMicroUsd?: number | undefined;
  /**
   * The time at which the work ended by the upstream's clock, in milliseconds since 1970; undefined if it is not
   * reported.
   */
  readonly endedAt?: number | undefined;
}

/** A thousand million US dollars in millionths, the largest amount that the books take. */
const COST_MICRO_USD_MAX = 1_000_000_000_000_000;

/** Returns the reported charge; undefined if it is not a whole number of millionths within the bounds of an amount. */
export function checkUpstreamCost(microUsd: number | undefined): number | undefined {
  if (microUsd === undefined || !Number.isSafeInteger(microUsd)) return undefined;
  return microUsd < 0 || microUsd > COST_MICRO_USD_MAX ? undefined : microUsd;
}

export type TaskEvent = 'waits' | 'runs' | 'succeeds' | 'fails';

/**
 * Every possible move. A queued task may end at once, because polls can miss the time in between. If an upstream puts
 * running work back into its queue, the task stays in_progress. No event leaves a final state.
 */
const MOVES: Readonly<Record<State, Readonly<Record<TaskEvent, State>>>> = {
  queued: { waits: 'queued', runs: 'in_progress', succeeds: 'completed', fails: 'failed' },
  in_progress: { waits: 'in_progress', runs: 'in_progress', succeeds: 'completed', fails: 'failed' },
  completed: { waits: 'completed', runs: 'completed', succeeds: 'completed', fails: 'completed' },
  failed: { waits: 'failed', runs: 'failed', succeeds: 'failed', fails: 'failed' },
};

export function move(state: State, event: TaskEvent): State {
  return MOVES[state][event];
}
