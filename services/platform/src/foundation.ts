import type { Bus } from './bus/bus.ts';
import type { Clock } from './clock.ts';
import type { NewId, Random } from './ids.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { ReadyCheck } from './lifecycle/readiness.ts';
import type { HttpRoute } from './rpc/connect-server.ts';
import type { Binding } from './rpc/service.ts';
import type { Secret } from './secret.ts';

/** What every service stands on, handed in by the program that runs it. */
export interface Foundation {
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly bus: Bus;
  /** Signs links; the keys between our own services are derived from it. */
  readonly signingKey: Secret;
  /** Base of every link handed to a client, without a slash at its end. */
  readonly publicUrl: string;
  /** An absolute path. */
  readonly dataDir: string;
}

/** A service that has been started: what it offers, and how it stops. */
export interface RunningService {
  /** Its RPCs, to be mounted on whichever transports the program opens. */
  readonly bindings: readonly Binding[];
  /** Its plain HTTP routes. */
  readonly routes: readonly HttpRoute[];
  readonly ready: ReadyCheck;
  /** Takes the parts of a new configuration that can change while it runs. */
  reload(config: unknown): Promise<void>;
  /** Whether others have work under way that they can only finish with it; absent: never. */
  isNeeded?: () => Promise<boolean>;
  stop(): Promise<void>;
}
