import { billingConfig } from '@reelgate/billing/config';
import { mediaConfig } from '@reelgate/media/config';
import type { StoreSettings } from '@reelgate/platform/sql/store-settings';
import { tasksConfig } from '@reelgate/tasks/config';
import { CALLED_SERVICES } from '../program/config/program-config.ts';
import type { CalledService, ProgramConfig } from '../program/config/program-config.ts';

const STORES: Readonly<Record<CalledService, (config: ProgramConfig) => StoreSettings>> = {
  tasks: ({ value, publicUrl }) => tasksConfig(value, publicUrl).store,
  billing: ({ value }) => billingConfig(value).store,
  media: ({ value }) => mediaConfig(value).store,
};

/** The store of a service, as the configuration names it. */
export function readStoreSettings(
  config: ProgramConfig,
  service: CalledService,
): StoreSettings & { readonly dataDir: string } {
  return { ...STORES[service](config), dataDir: config.dataDir };
}

/** The services that store their data in a PostgreSQL database. */
export function servicesOnPostgres(config: ProgramConfig): readonly CalledService[] {
  return CALLED_SERVICES.filter((service) => readStoreSettings(config, service).url !== undefined);
}
