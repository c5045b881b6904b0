import { gatewayConfig, operatorsOf } from '@reelgate/gateway/config';
import { readProgramConfig } from '../../program/config/program-config.ts';
import { consoleAddress } from '../../program/greeting.ts';
import { openKeys } from '../../program/open-keys.ts';
import { CommandFailed, defineCommand, assertNoWords } from '../command.ts';

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
    const [operator] = operatorsOf(config, openKeys(read).signatures[0]);
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
