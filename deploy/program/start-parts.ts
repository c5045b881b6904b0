import type { Foundation, RunningService } from '@reelgate/platform/foundation';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { IdentifyCaller } from '@reelgate/platform/rpc/callers';
import type { ProgramConfig, ServiceName } from './config/program-config.ts';
import type { ProcessDiagnosis } from './diagnosis/process-diagnosis.ts';
import type { HealthPorts } from './ports/health-ports.ts';
import type { ProgramTls } from './ports/program-tls.ts';

/** The parts that every start function receives. */
export interface StartParts {
  readonly config: ProgramConfig;
  readonly foundation: Foundation;
  readonly lifecycle: Lifecycle;
  /** Identifies the callers of a service. */
  readonly identify: (service: ServiceName) => IdentifyCaller;
  readonly tls: ProgramTls;
  readonly ports: HealthPorts;
  readonly diagnosis: ProcessDiagnosis;
}

/** The result of a start. */
export interface StartResult {
  /** In the order in which they receive a new configuration. */
  readonly services: readonly RunningService[];
  /** Lines for the operator. */
  readonly greeting: readonly string[];
}
