import { pause, type Clock } from '../sandbox-clock.ts';
import { wordMs } from '../limits.ts';
import type { RouteHandler } from './route-handler.ts';
import { json, type Answer } from './route-handler.ts';
import { newToken } from '../random-ids.ts';

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

const quotedCodePointsMax = 500;
const lettersAToken = 4;

/** A chat completion before it is written as one body or as events. */
type ChatAnswer = {
  readonly head: { readonly id: string; readonly created: number; readonly model: string };
  /** The words, each with the space after it. */
  readonly words: readonly string[];
  readonly finish: 'stop' | 'length';
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number };
};

/** Echoes the prompt, which is enough to see a stream and a bill. A word counts as a token. */
function chatAnswer({ model, text, tokensMax }: ChatOrder, nowMs: number): ChatAnswer {
  const quote = Array.from(text).slice(0, quotedCodePointsMax).join('').trim();
  const all = `This is the sandbox, and you said: "${quote}". A model would have more to say.`.match(/\S+\s*/g) ?? [];
  const words = all.slice(0, tokensMax);
  const promptTokens = Math.ceil(text.length / lettersAToken) + 1;
  return {
    words,
    head: { id: `chatcmpl-${newToken()}`, created: Math.floor(nowMs / 1000), model },
    finish: words.length < all.length ? 'length' : 'stop',
    usage: { prompt_tokens: promptTokens, completion_tokens: words.length, total_tokens: promptTokens + words.length },
  };
}

function toChatBody({ head, words, finish, usage }: ChatAnswer): unknown {
  const message = { role: 'assistant', content: words.join(''), refusal: null };
  return {
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    usage,
  };
}

/** Converts the answer to server-sent events. */
function toChatEvents({ head, words, finish, usage }: ChatAnswer, showsUsage: boolean): readonly string[] {
  const event = (choices: readonly object[], more: object = {}): string =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...more })}\n\n`;
  const delta = (piece: object, reason: string | null): string =>
    event([{ index: 0, delta: piece, logprobs: null, finish_reason: reason }], showsUsage ? { usage: null } : {});
  return [
    delta({ role: 'assistant', content: '' }, null),
    ...words.map((word) => delta({ content: word }, null)),
    delta({}, finish),
    ...(showsUsage ? [event([], { usage })] : []),
    'data: [DONE]\n\n',
  ];
}

/** The fields of a chat completion that the sandbox reads. It accepts all others and ignores them. */
type ChatOrder = {
  readonly model: string;
  readonly text: string;
  readonly stream: boolean;
  readonly showsUsage: boolean;
  readonly tokensMax: number;
};

/** Reads a body. Returns an error message if the body is not a chat completion. */
function readChatOrder(body: unknown): ChatOrder | string {
  const {
    model,
    messages,
    stream,
    stream_options: options,
    max_completion_tokens: most,
    max_tokens: legacyMost,
  } = toFields(body);
  if (typeof model !== 'string' || model === '') return "'model' must be a string";
  if (!Array.isArray(messages) || messages.length === 0) return "'messages' must be a list with at least one message";
  const asked = messages.map(toFields).findLast(({ role }) => role === 'user');
  const tokensMax = most ?? legacyMost ?? Infinity;
  if (typeof tokensMax !== 'number' || tokensMax < 1) return "'max_completion_tokens' must be a positive number";
  return {
    model,
    tokensMax,
    text: readMessageText(asked?.['content']),
    stream: stream === true,
    showsUsage: toFields(options)['include_usage'] === true,
  };
}

/** The text of a message. Its content is a text, or a list of parts of which some are texts. */
function readMessageText(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content)
    ? content
        .map((part) => toFields(part)['text'])
        .filter((text) => typeof text === 'string')
        .join(' ')
    : '';
}

function toFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
