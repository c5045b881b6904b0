import { errorText, RELAY_KEYS, UPSTREAM_IDENTITIES } from './identities.ts';
import type { Answer, Vendor } from './reply.ts';
import { event, json, piecesFor, textFor, usedBy } from './reply.ts';

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  529: 'overloaded_error',
};

export const anthropic: Vendor = {
  error: (status, { model, channel }) => ({
    type: 'error',
    error: { type: ERROR_TYPES[status] ?? 'api_error', message: errorText(model, RELAY_KEYS[channel] ?? '') },
    request_id: UPSTREAM_IDENTITIES.requestId,
  }),
  errorFrame: ({ model, channel }) =>
    event('error', { error: { type: 'overloaded_error', message: errorText(model, RELAY_KEYS[channel] ?? '') } }),
};

export const messages: Answer = (asked) => {
  const { input, output } = usedBy(asked);
  const base = { id: 'msg_1', type: 'message', role: 'assistant', model: asked.model };
  if (asked.json?.stream !== true) {
    const usage = asked.words.has('no-usage')
      ? {}
      : {
          usage: {
            input_tokens: input,
            output_tokens: output,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: 0,
          },
        };
    return json({
      ...base,
      content: [{ type: 'text', text: textFor(asked) }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      ...usage,
    });
  }
  return {
    kind: 'stream',
    frames: [
      event('message_start', {
        message: {
          ...base,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: input, output_tokens: 1 },
        },
      }),
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      event('ping', {}),
      ...piecesFor(asked).map((text) =>
        event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
      ),
      event('content_block_stop', { index: 0 }),
      event('message_delta', {
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: output },
      }),
      event('message_stop', {}),
    ],
  };
};

export const countTokens: Answer = (asked) => json({ input_tokens: usedBy(asked).input });
