import { ConfigError } from '@reelgate/platform/config/config-file';
import { RefusedConfig } from '../../program/config/check-config.ts';
import type { CheckedLines } from '../../program/config/check-config.ts';
import { configJsonSchema } from '../../program/config/config-json-schema.ts';
import { SERVICE_NAMES } from '../../program/config/program-config.ts';
import type { ServiceName } from '../../program/config/program-config.ts';
import { readRunnableConfig } from '../../program/config/read-config.ts';
import { assertNoWords, defineCommand, readSingleId } from '../command.ts';
import type { Environment } from '../environment.ts';
import { resolveTypedPaths } from '../environment.ts';

export const configCheck = defineCommand({
  summary: 'check a configuration as a start would: a file, files with colons between, or a folder',
  words: 'FILES',
  options: {
    service: {
      value: 'NAME',
      means: 'the service that runs alone in a process; default: all in one program',
      choices: SERVICE_NAMES,
    },
  },
  example: 'config check deploy/local/reelgate.yaml',
  run: async ({ words, options, environment }) => {
    const file = readSingleId(words, 'file, folder, or list of them with colons between');
    const { refused, warnings } = await check(
      { ...environment, REELGATE_CONFIG: resolveTypedPaths(environment, file) },
      options.service as ServiceName | undefined,
    );
    const ok = refused.length === 0;
    const lines = [...refused.map((line) => `refused: ${line}`), ...warnings.map((line) => `warning: ${line}`)];
    return {
      ok,
      answer: { ok, refused, warnings },
      text: [...lines, ok ? `${file}: this configuration starts` : `${file}: this configuration does not start`].join(
        '\n',
      ),
    };
  },
});

export const configSchema = defineCommand({
  summary: 'print the JSON Schema of the configuration, for editors',
  words: '',
  options: {},
  example: 'config schema > reelgate.schema.json',
  run: async ({ words }) => {
    assertNoWords(words);
    const schema = configJsonSchema();
    return { answer: schema, text: JSON.stringify(schema, undefined, 2) };
  },
});

async function check(environment: Environment, service: ServiceName | undefined): Promise<CheckedLines> {
  try {
    return { refused: [], warnings: (await readRunnableConfig(environment, service)).warnings };
  } catch (error) {
    if (error instanceof RefusedConfig) return error;
    if (error instanceof ConfigError) return { refused: error.refused, warnings: [] };
    throw error;
  }
}
