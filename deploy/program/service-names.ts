export const SERVICE_NAMES = ['gateway', 'tasks', 'billing', 'media'] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];
export type CalledService = Exclude<ServiceName, 'gateway'>;
