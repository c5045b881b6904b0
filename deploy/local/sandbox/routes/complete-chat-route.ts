import { chatAnswer, toChatEvents, toChatBody } from '../chat.ts';
import { readChatOrder } from '../chat.ts';
import { pause, type Clock } from '../sandbox-clock.ts';
import { json, type Answer } from '../http/answer.ts';
import { wordMs } from '../limits.ts';
import type { RouteHandler } from './route-handler.ts';

/** A chat completion in OpenAI's shape, which most vendors share. */
export const completeChat: RouteHandler = ({ body }, { clock, stopped }): Answer => {
  const order = readChatOrder(body);
  if (typeof order === 'string')
    return {
      as: 'json',
      status: 400,
      body: { error: { message: order, type: 'invalid_request_error', param: null, code: 'invalid_request' } },
    };
  const answer = chatAnswer(order, clock.now());
  return order.stream
    ? { as: 'events', events: paceEvents(toChatEvents(answer, order.showsUsage), clock, stopped) }
    : json(toChatBody(answer));
};

/** Sends the events one by one, at the pace of speech. */
async function* paceEvents(events: readonly string[], clock: Clock, stopped: AbortSignal): AsyncGenerator<string> {
  for (const event of events) {
    yield event;
    await pause(clock, wordMs, stopped);
  }
}
