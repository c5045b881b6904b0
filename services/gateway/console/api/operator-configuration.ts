import type { RunningConfiguration } from '../../src/domain/running-configuration.ts';

/** GET /configuration: the configuration of the gateway that answers. */
export interface ConfigurationView extends RunningConfiguration {
  /** The reason for which the newest files are not in use; undefined if they are. */
  readonly refused?: string | undefined;
}
