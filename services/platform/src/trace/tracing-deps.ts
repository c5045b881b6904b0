import type { Clock } from '../clock.ts';
import type { NewId, Random } from '../ids.ts';
import type { Log } from '../log.ts';
import type { CounterRegistry } from '../metrics/metrics.ts';

export interface TracingDeps {
  /** The name under which the program appears; the environment may give another one. */
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
  readonly log: Log;
  readonly metrics: CounterRegistry;
}
