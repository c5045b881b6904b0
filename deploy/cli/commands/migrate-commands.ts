import { checkStore, migrateStore } from '@reelgate/platform/sql/migrate-store';
import type { SchemaReport } from '@reelgate/platform/sql/migrate-store';
import { StoreRefused, StoreUnavailable } from '@reelgate/platform/sql/sql';
import { CALLED_SERVICES, readProgramConfig } from '../../program/config/program-config.ts';
import type { CalledService } from '../../program/config/program-config.ts';
import { CommandFailed, WrongCall, defineCommand } from '../command.ts';
import type { Outcome } from '../command.ts';
import { readStoreSettings } from '../service-stores.ts';

export const migrate = defineCommand({
  summary: 'bring the store of a service up to date; no service needs to run',
  words: 'SERVICE',
  choices: CALLED_SERVICES,
  options: { check: { means: 'only list the pending migrations; exit code 1 if there are any' } },
  example: 'migrate tasks --check',
  run: async ({ words, options, environment }) => {
    const [name, ...rest] = words;
    const service = CALLED_SERVICES.find((one) => one === name);
    if (service === undefined || rest.length > 0) throw new WrongCall(`name one of: ${CALLED_SERVICES.join(', ')}`);
    const config = readProgramConfig(environment);
    const store = readStoreSettings(config, service);
    try {
      return options.check === true
        ? reportPending(service, await checkStore(store))
        : reportApplied(service, await migrateStore(store));
    } catch (error) {
      // a known fault names the service
      const isNameless = error instanceof StoreUnavailable && error.fault === undefined;
      if (isNameless || error instanceof StoreRefused) throw new CommandFailed(`${service}: ${error.message}`);
      throw error;
    }
  },
});

function reportApplied(service: CalledService, applied: readonly string[]): Outcome {
  const lines = applied.map((name) => `${service}: applied ${name}`);
  return {
    answer: { service, applied },
    text: lines.length === 0 ? `${service}: nothing to apply` : lines.join('\n'),
  };
}

function reportPending(service: CalledService, { pending, unknown }: SchemaReport): Outcome {
  const lines = [
    ...pending.map((name) => `${service}: pending ${name}`),
    ...unknown.map((name) => `${service}: of a newer release ${name}`),
  ];
  const ok = pending.length === 0;
  return {
    ok,
    answer: { service, ok, pending, newer: unknown },
    text: [...lines, ...(ok ? [`${service}: nothing is pending`] : [])].join('\n'),
  };
}
