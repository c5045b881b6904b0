import { errorText, RELAY_KEYS } from './identities.ts';
import { data, event, json, piecesFor, textFor, usedBy } from './reply.ts';
import type { Answer, Reply, Vendor } from './reply.ts';
import type { Received } from './received.ts';

const CREATED = 1_790_000_000;
const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_exceeded',
  500: 'server_error',
  503: 'server_error',
};

export const openai: Vendor = {
  error: (status, { model, channel }) => ({
    error: {
      message: errorText(model, RELAY_KEYS[channel] ?? ''),
      type: ERROR_TYPES[status] ?? 'invalid_request_error',
      param: null,
      code: status === 429 ? 'rate_limit_exceeded' : null,
    },
  }),
  errorFrame: ({ model, channel }) =>
    data({ error: { message: errorText(model, RELAY_KEYS[channel] ?? ''), type: 'server_error', code: null } }),
};

/** The error event of the responses API, which has a `type`. */
export const openaiResponses: Vendor = {
  ...openai,
  errorFrame: ({ model, channel }) =>
    event('error', {
      code: 'server_error',
      message: errorText(model, RELAY_KEYS[channel] ?? ''),
      param: null,
      sequence_number: 3,
    }),
};

export const chat: Answer = (asked) => {
  const { input, output } = usedBy(asked);
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  const base = { id: 'chatcmpl-1', created: CREATED, model: asked.model, system_fingerprint: 'fp_1' };
  if (asked.json?.stream !== true) {
    const choice = {
      index: 0,
      message: { role: 'assistant', content: textFor(asked), refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    };
    return json({ ...base, object: 'chat.completion', choices: [choice], ...usageIn(asked, { usage }) });
  }
  const asks = asked.json?.stream_options?.include_usage === true;
  const chunk = (delta: object, finish: string | null = null): string =>
    data({
      ...base,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...(asks ? { usage: null } : {}),
    });
  return {
    kind: 'stream',
    frames: [
      chunk({ role: 'assistant', content: '' }),
      ...piecesFor(asked).map((content) => chunk({ content })),
      chunk({}, 'stop'),
      ...(asks && !asked.words.has('no-usage')
        ? [data({ ...base, object: 'chat.completion.chunk', choices: [], usage })]
        : []),
      'data: [DONE]\n\n',
    ],
  };
};

export const responses: Answer = (asked) => {
  const { input, output } = usedBy(asked);
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
  const text = textFor(asked);
  const part = { type: 'output_text', text, annotations: [] };
  const item = { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content: [part] };
  const whole = {
    id: 'resp_1',
    object: 'response',
    created_at: CREATED,
    status: 'completed',
    model: asked.model,
    output: [item],
    error: null,
    incomplete_details: null,
    parallel_tool_calls: true,
    tools: [],
    tool_choice: 'auto',
    ...usageIn(asked, { usage }),
  };
  if (asked.json?.stream !== true) return json(whole);
  const begun = { ...whole, status: 'in_progress', output: [], usage: null };
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const frames = [
    ['response.created', { response: begun }],
    ['response.output_item.added', { output_index: 0, item: { ...item, status: 'in_progress', content: [] } }],
    ['response.content_part.added', { ...at, part: { ...part, text: '' } }],
    ...piecesFor(asked).map((delta) => ['response.output_text.delta', { ...at, delta, logprobs: [] }]),
    ['response.output_text.done', { ...at, text, logprobs: [] }],
    ['response.content_part.done', { ...at, part }],
    ['response.output_item.done', { output_index: 0, item }],
    ['response.completed', { response: whole }],
  ] as [string, object][];
  return {
    kind: 'stream',
    frames: frames.map(([type, body], number) => event(type, { ...body, sequence_number: number })),
  };
};

/** One vector of three numbers for each input. */
const VECTOR = [0.25, -0.5, 1] as const;

export const embeddings: Answer = (asked) => {
  const inputs = Array.isArray(asked.json?.input) ? (asked.json.input as unknown[]) : [asked.json?.input];
  const { input } = usedBy(asked);
  const vector =
    asked.json?.encoding_format === 'base64'
      ? Buffer.from(Float32Array.from(VECTOR).buffer).toString('base64')
      : [...VECTOR];
  return json({
    object: 'list',
    model: asked.model,
    data: inputs.map((_, index) => ({ object: 'embedding', index, embedding: vector })),
    ...usageIn(asked, { usage: { prompt_tokens: input, total_tokens: input } }),
  });
};

/** A real picture of one pixel. */
export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const IMAGE_URL = 'https://images.example/made/1.png';

export const images: Answer = (asked) => {
  const field = (name: string): string | undefined =>
    (asked.json as Record<string, unknown> | undefined)?.[name]?.toString() ?? formField(asked, name);
  const image = field('response_format') === 'url' ? { url: IMAGE_URL } : { b64_json: PIXEL };
  return json({
    created: CREATED,
    data: Array.from({ length: Number(field('n') ?? 1) }, () => image),
    ...usageIn(asked, { usage: { input_tokens: 20, output_tokens: 30, total_tokens: 50 } }),
  });
};

/** In place of sound: bytes of every value, which a reader that decodes them as text would spoil. */
export const SOUND = Buffer.from(Array.from({ length: 5000 }, (_, at) => at % 256));

export const speech: Answer = (asked): Reply => ({
  kind: 'bytes',
  contentType: 'audio/mpeg',
  bytes: asked.words.has('huge') ? Buffer.alloc(asked.words.number('huge', 0), SOUND) : SOUND,
});

export const transcription: Answer = (asked) => {
  if (formField(asked, 'stream') === 'true') {
    const pieces = piecesFor(asked).map((delta) => event('transcript.text.delta', { delta, logprobs: [] }));
    return {
      kind: 'stream',
      frames: [
        ...pieces,
        event('transcript.text.done', {
          text: textFor(asked),
          logprobs: [],
          usage: { type: 'tokens', input_tokens: 14, output_tokens: 45, total_tokens: 59 },
        }),
      ],
    };
  }
  if (formField(asked, 'response_format') === 'text')
    return { kind: 'bytes', contentType: 'text/plain; charset=utf-8', bytes: Buffer.from(`${textFor(asked)}\n`) };
  return json({
    text: textFor(asked),
    ...usageIn(asked, { usage: { type: 'duration', seconds: asked.words.number('seconds', 3) } }),
  });
};

/** The text of a form field. */
function formField({ body, headers }: Received, name: string): string | undefined {
  if (headers['content-type']?.startsWith('multipart/form-data') !== true) return undefined;
  return new RegExp(`name="${name}"\\r\\n(?:[^\\r\\n]+\\r\\n)*\\r\\n([^\\r\\n]*)\\r\\n`).exec(
    body.toString('latin1'),
  )?.[1];
}

function usageIn({ words }: Received, usage: object): object {
  return words.has('no-usage') ? {} : usage;
}
