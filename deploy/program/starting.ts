import type { Foundation, RunningService } from '@reelgate/platform/foundation';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { IdentifyCaller } from '@reelgate/platform/rpc/callers';
import type { ProgramConfig } from './config/program-config.ts';

/** What a program is made of while it starts. */
export interface Starting {
  readonly config: ProgramConfig;
  readonly foundation: Foundation;
  readonly lifecycle: Lifecycle;
  readonly identify: IdentifyCaller;
}

/** What runs once everything has started. */
export interface Started {
  /** In the order in which a new configuration is given to them. */
  readonly services: readonly RunningService[];
  /** Lines for the person who started it. */
  readonly greeting: readonly string[];
}
