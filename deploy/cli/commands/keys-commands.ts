import { gatewayConfig, operatorsOf } from '@reelgate/gateway/config';
import { SERVICE_NAMES, readProgramConfig } from '../../program/config/program-config.ts';
import { consoleAddress } from '../../program/greeting.ts';
import { readAcceptedKeys, deriveServiceKey } from '../../program/keys/service-key.ts';
import { CommandFailed, WrongCall, assertNoWords, defineCommand } from '../command.ts';

export const consoleKey = defineCommand({
  summary: 'print the address of the operator console, and the key to sign in with on this machine',
  words: '',
  options: {},
  example: 'console key',
  run: async ({ words, environment }) => {
    assertNoWords(words);
    const read = readProgramConfig(environment);
    const config = gatewayConfig(read.value);
    if (config.console.operators.length > 0)
      throw new CommandFailed('the configuration has operators; sign in with the key of one of them');
    const [operator] = operatorsOf(config, readAcceptedKeys(read).signatures[0]);
    const address = consoleAddress(config.admin);
    if (operator === undefined || address === undefined)
      throw new CommandFailed(
        'there is no operator console; set gateway.admin to a loopback address such as 127.0.0.1:9110, ' +
          'or add operators to the configuration',
      );
    const key = operator.key.reveal();
    return { answer: { address, operator: operator.name, key }, text: `${address}\n${key}` };
  },
});

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
    const key = deriveServiceKey(service, readAcceptedKeys(config)).reveal();
    return { answer: { service, key }, text: key };
  },
});
