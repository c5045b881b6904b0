import { ACTOR_OPTION, actorOf } from '../actor.ts';
import { defineCommand, oneId } from '../command.ts';
import { shownPause } from '../format/channel-pause.ts';

export const channelPause = defineCommand({
  summary: 'keep new work from a channel, at every replica, until it is resumed',
  words: 'ID',
  options: {
    reason: { value: 'TEXT', means: 'why, for the record', needed: true },
    actor: ACTOR_OPTION,
  },
  example: 'channel pause sandbox --reason "the upstream loses results"',
  run: async ({ services, words, options, environment }) => {
    const { pause } = await services.tasks.pauseChannel({
      id: oneId(words, 'channel'),
      reason: options.reason ?? '',
      actor: actorOf(options.actor, environment),
    });
    return { answer: pause === undefined ? {} : { id: pause.channel, ...shownPause(pause) } };
  },
});
