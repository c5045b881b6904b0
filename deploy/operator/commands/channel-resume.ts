import { ACTOR_OPTION, actorOf } from '../actor.ts';
import { defineCommand, oneId } from '../command.ts';

export const channelResume = defineCommand({
  summary: 'give a paused channel new work again',
  words: 'ID',
  options: { reason: { value: 'TEXT', means: 'why, for the record' }, actor: ACTOR_OPTION },
  example: 'channel resume sandbox',
  run: async ({ services, words, options, environment }) => {
    const id = oneId(words, 'channel');
    const { wasPaused } = await services.tasks.resumeChannel({
      id,
      reason: options.reason ?? '',
      actor: actorOf(options.actor, environment),
    });
    return { answer: { id, was_paused: wasPaused } };
  },
});
