import { ACTOR_OPTION, readActor } from '../actor.ts';
import { defineCommand, readSingleId } from '../command.ts';

export const channelTest = defineCommand({
  summary: 'make a call to the upstream of a channel that costs nothing',
  words: 'ID',
  options: { actor: ACTOR_OPTION },
  example: 'channel test sandbox',
  run: async ({ services, words, options, environment }) => {
    const { ok, detail, tookMs } = await services.tasks.testChannel({
      id: readSingleId(words, 'channel'),
      actor: readActor(options.actor, environment),
    });
    return { ok, answer: { ok, detail, took_ms: Number(tookMs) } };
  },
});
