import { ACTOR_OPTION, readActor } from '../actor.ts';
import { defineCommand, readSingleId } from '../command.ts';
import { toPauseJson } from '../format/channel-pause.ts';

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
      id: readSingleId(words, 'channel'),
      reason: options.reason ?? '',
      actor: readActor(options.actor, environment),
    });
    return { answer: pause === undefined ? {} : { id: pause.channel, ...toPauseJson(pause) } };
  },
});
