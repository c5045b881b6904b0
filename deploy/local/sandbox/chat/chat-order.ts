/** The fields of a chat completion that the sandbox reads. It accepts all others and ignores them. */
export type ChatOrder = {
  readonly model: string;
  readonly text: string;
  readonly stream: boolean;
  readonly showsUsage: boolean;
  readonly tokensMax: number;
};

/** Reads a body. Returns an error message if the body is not a chat completion. */
export function readChatOrder(body: unknown): ChatOrder | string {
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
