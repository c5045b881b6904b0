import { configJsonSchema } from '../../program/config/json-schema.ts';
import { defineCommand, assertNoWords } from '../command.ts';

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
