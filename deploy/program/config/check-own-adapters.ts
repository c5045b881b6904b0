import { RefusedConfig } from './check-config.ts';
import type { ComparedConfig } from './findings/finding.ts';
import type { ProgramConfig } from './program-config.ts';

/**
 * Asks the adapters of operators, in their sandboxes, whether they take the options of their channels: an adapter is
 * code, which may refuse what its schema accepts. Throws a ConfigError with a line for each refusal.
 */
export async function checkOwnAdapters({ file, value, warnings }: ProgramConfig): Promise<void> {
  const { channels, adapters } = value as Pick<ComparedConfig, 'channels' | 'adapters'>;
  const faults = await Promise.all(
    channels.map(async ({ adapter: named, options = {} }, at) => {
      const own = adapters.find(({ name }) => name === named);
      const fault = await own?.adapter.prepare({ options }).then(() => undefined, describeFault);
      if (fault === undefined) return [];
      return [file.fault(['channels', at, 'options'], `the adapter ${named} refuses them: ${fault}`).message];
    }),
  );
  const refused = faults.flat();
  if (refused.length > 0) throw new RefusedConfig(refused, warnings);
}

function describeFault(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
