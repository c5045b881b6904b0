import { systemClock } from '@reelgate/platform/clock';
import type { Sleeper } from '@reelgate/platform/clock';

const FACTOR = 10;

/**
 * Every sleep takes ten times as long. With it a sandbox meets its bound of processor time before its bound of silence,
 * also on a machine that gives the thread of an adapter a twentieth of a core.
 */
export const patientClock: Sleeper = {
  sleep: (ms, signal) => systemClock.sleep(FACTOR * ms, signal),
};
