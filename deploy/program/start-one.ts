import type { ServiceName } from './config/program-config.ts';
import type { Started, Starting } from './starting.ts';

/** Starts one service in this process, which calls the others over gRPC. The code of the others is not loaded. */
export const START_ONE: Readonly<Record<ServiceName, (starting: Starting) => Promise<Started>>> = {
  billing: async (starting) => (await import('./alone/billing.ts')).billingAlone(starting),
  media: async (starting) => (await import('./alone/media.ts')).mediaAlone(starting),
  tasks: async (starting) => (await import('./alone/tasks.ts')).tasksAlone(starting),
  gateway: async (starting) => (await import('./alone/gateway.ts')).gatewayAlone(starting),
};
