import { defineCommand, oneId } from '../command.ts';

export const channelTest = defineCommand({
  summary: 'make a call to the upstream of a channel that costs nothing',
  words: 'ID',
  options: {},
  example: 'channel test sandbox',
  run: async ({ services, words }) => {
    const { ok, detail, tookMs } = await services.tasks.testChannel({ id: oneId(words, 'channel') });
    return { ok, answer: { ok, detail, took_ms: Number(tookMs) } };
  },
});
