import type { ServiceName } from './config/program-config.ts';
import type { StartResult, StartParts } from './starting.ts';

/** Starts one service in this process, which calls the others over gRPC. The code of the others is not loaded. */
export const START_ONE: Readonly<Record<ServiceName, (starting: StartParts) => Promise<StartResult>>> = {
  billing: async (starting) => (await import('./alone/billing.ts')).startBillingAlone(starting),
  media: async (starting) => (await import('./alone/media.ts')).startMediaAlone(starting),
  tasks: async (starting) => (await import('./alone/tasks.ts')).startTasksAlone(starting),
  gateway: async (starting) => (await import('./alone/gateway.ts')).startGatewayAlone(starting),
};
