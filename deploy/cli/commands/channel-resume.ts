import { ACTOR_OPTION, readActor } from '../actor.ts';
import { defineCommand, readSingleId } from '../command.ts';

export const channelResume = defineCommand({
  summary: 'give a paused channel new work again',
  words: 'ID',
  options: { reason: { value: 'TEXT', means: 'why, for the record' }, actor: ACTOR_OPTION },
  example: 'channel resume sandbox',
  run: async ({ services, words, options, environment }) => {
    const id = readSingleId(words, 'channel');
    const { wasPaused } = await services.tasks.resumeChannel({
      id,
      reason: options.reason ?? '',
      actor: readActor(options.actor, environment),
    });
    return { answer: { id, was_paused: wasPaused } };
  },
});
