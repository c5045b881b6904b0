import { SERVICE_NAMES, readProgramConfig } from '../../program/config/program-config.ts';
import { openKeys } from '../../program/open-keys.ts';
import { deriveServiceKey } from '../../program/service-key.ts';
import { CommandFailed, WrongCall, defineCommand, assertNoWords } from '../command.ts';

export const keysDerive = defineCommand({
  summary: 'print the service_key of one service, which follows from the signing key',
  words: '',
  options: { service: { value: 'NAME', means: 'the service', choices: SERVICE_NAMES, needed: true } },
  example: 'keys derive --service media',
  run: async ({ words, options, environment }) => {
    assertNoWords(words);
    const service = SERVICE_NAMES.find((name) => name === options.service);
    if (service === undefined) throw new WrongCall(`--service must be one of ${SERVICE_NAMES.join(', ')}`);
    const config = readProgramConfig(environment);
    if (config.serviceKey !== undefined)
      throw new CommandFailed('the configuration has a service_key; keys follow from signing_key alone');
    const key = deriveServiceKey(service, openKeys(config)).reveal();
    return { answer: { service, key }, text: key };
  },
});
