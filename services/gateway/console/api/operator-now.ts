import type { Act } from './operator-acts.ts';

export type LightName = 'creates' | 'polls' | 'settlements' | 'channels' | 'attention';

export type Grade = 'ok' | 'warn' | 'fail';

/** One of the five lights. */
export interface Light {
  readonly name: LightName;
  readonly grade: Grade;
  /** The figure that the light is about, with its unit, such as `12 / min`. */
  readonly figure: string;
  /** Why it is not `ok`, in a sentence; undefined: it is. */
  readonly why?: string;
  /**
   * One value for each of the last 60 minutes, the oldest first: creates, late polls, settlements, faults of channels.
   * Empty: the light has no history, or the tasks service does not answer.
   */
  readonly minutes: readonly number[];
}

/** GET /now. */
export interface Now {
  readonly lights: readonly Light[];
  readonly unfinished: number;
  readonly acts: readonly Act[];
  readonly services: readonly ServiceState[];
  readonly now: number;
}

/** A service as this gateway sees it. */
export interface ServiceState {
  readonly name: string;
  readonly isReachable: boolean;
}
