import { ChannelStatusSchema } from '@reelgate/proto/tasks/v1/operator_service';
import { ACTOR_OPTION, readActor } from '../environment.ts';
import { assertNoWords, defineCommand, readSingleId } from '../command.ts';
import { WIDE_OPTION, listColumns, toListOutcome } from '../format/table.ts';
import { readDuration, relativeTime } from '../format/times.ts';

const SECOND_MS = 1000;

const COLUMNS = listColumns(ChannelStatusSchema, [
  'id',
  'adapter',
  'enabled',
  { title: 'PAUSED', of: ({ pause }) => (pause === undefined ? 'no' : relativeTime(pause.at)) },
  { field: 'pause.endsAt', title: 'PAUSE ENDS', isWide: true },
  { field: 'pause.actor', title: 'PAUSED BY', isWide: true },
  { field: 'pause.reason', title: 'PAUSE REASON', isWide: true },
  'circuit',
  { title: 'IN FLIGHT', of: ({ inFlight, inFlightLimit }) => `${inFlight}/${inFlightLimit}` },
  { field: 'requestsPerMinute', title: 'PER MINUTE', isWide: true },
  { field: 'priority', isWide: true },
  { field: 'weight', isWide: true },
  { field: 'upstreamAccount', isWide: true },
  { field: 'models', shrinks: true },
  { field: 'endpoints', isWide: true },
]);

export const channelList = defineCommand({
  summary: 'list the channels with their load and circuit breaker',
  words: '',
  options: { wide: WIDE_OPTION },
  example: 'channel list',
  run: async ({ services, words, options, terminal }) => {
    assertNoWords(words);
    const answer = await services.tasks.listChannels({});
    return toListOutcome(answer, answer.channels, COLUMNS, { terminal, options });
  },
});

export const channelTest = defineCommand({
  summary: 'call the upstream of a channel, without cost',
  words: 'ID',
  options: { actor: ACTOR_OPTION },
  example: 'channel test sandbox',
  run: async ({ services, words, options, environment }) => {
    const answer = await services.tasks.testChannel({
      id: readSingleId(words, 'channel'),
      actor: readActor(options.actor, environment),
    });
    return { ok: answer.ok, answer };
  },
});

export const channelPause = defineCommand({
  summary: 'keep new work from a channel, at every replica, until the pause ends or it is resumed',
  words: 'ID',
  options: {
    reason: { value: 'TEXT', means: 'why, for the record', needed: true },
    for: { value: 'DURATION', means: 'for how long, up to 7d; default: until it is resumed' },
    actor: ACTOR_OPTION,
  },
  example: 'channel pause sandbox --for 30m --reason "the upstream loses results"',
  run: async ({ services, words, options, environment }) => ({
    answer: await services.tasks.pauseChannel({
      id: readSingleId(words, 'channel'),
      reason: options.reason ?? '',
      forSeconds: options.for === undefined ? 0 : Math.ceil(readDuration(options.for) / SECOND_MS),
      actor: readActor(options.actor, environment),
    }),
  }),
});

export const channelResume = defineCommand({
  summary: 'give a paused channel new work again',
  words: 'ID',
  options: { reason: { value: 'TEXT', means: 'why, for the record' }, actor: ACTOR_OPTION },
  example: 'channel resume sandbox',
  run: async ({ services, words, options, environment }) => {
    const id = readSingleId(words, 'channel');
    const actor = readActor(options.actor, environment);
    const answer = await services.tasks.resumeChannel({ id, reason: options.reason ?? '', actor });
    return { answer, text: answer.wasPaused ? `${id} gets work again` : `${id} was not paused` };
  },
});
