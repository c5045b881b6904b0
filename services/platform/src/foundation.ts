import type { Bus } from './bus/bus.ts';
import type { Clock } from './clock.ts';
import type { CheckRegistry } from './diagnosis/self-checks.ts';
import type { NewId, Random } from './ids.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { Drain } from './lifecycle/drain.ts';
import type { ReadyCheck } from './lifecycle/readiness.ts';
import type { HttpRoute } from './http/http-port.ts';
import type { Binding } from './rpc/service.ts';
import type { SigningKey, AcceptedKeys } from './secret.ts';
import type { Tracing } from './trace/trace.ts';

/** The parts that every service needs. The program that runs the services builds them. */
export interface Foundation {
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly bus: Bus;
  /** The checks that an operator can run on the service, undefined if they are never run. */
  readonly checks?: CheckRegistry | undefined;
  /** The key of every purpose that this service has follows from it. */
  readonly signingKey: SigningKey;
  /** That key first, then the keys that it replaced. */
  readonly acceptedKeys: AcceptedKeys;
  /** The base of every link that a client gets, without a trailing slash. */
  readonly publicUrl: string;
  /** An absolute path. */
  readonly dataDir: string;
}

/** A started service. */
export interface RunningService {
  /** Its RPCs, which the program mounts on the transports that it opens. */
  readonly bindings: readonly Binding[];
  /** Its plain HTTP routes. */
  readonly routes: readonly HttpRoute[];
  readonly ready: ReadyCheck;
  /** Applies the parts of a new configuration that can change at run time. */
  reload(config: unknown): Promise<void>;
  /** Reports whether other services have running work that needs this one. Undefined if they never do. */
  isNeeded?: () => Promise<boolean>;
  /** Ends its running work, in addition to the requests of its ports. Undefined if it has no such work. */
  drain?: (drain: Drain) => Promise<void>;
  stop(): Promise<void>;
}
