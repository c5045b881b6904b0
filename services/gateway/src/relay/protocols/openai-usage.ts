import { readObject, pickQuantity, toUsage } from './quantities.ts';
import type { JsonObject, StreamFault, Usage } from './protocol.ts';

/** The `usage` of OpenAI's routes and of compatible ones: in two spellings, and for audio in seconds. */
export function readOpenaiUsage(holder: JsonObject): Usage | undefined {
  const usage = readObject(holder, 'usage');
  return toUsage({
    inputTokens: pickQuantity(usage['prompt_tokens'], usage['input_tokens'], usage['total_tokens']),
    cachedInputTokens: pickQuantity(
      readObject(usage, 'input_tokens_details')['cached_tokens'],
      readObject(usage, 'prompt_tokens_details')['cached_tokens'],
    ),
    outputTokens: pickQuantity(usage['completion_tokens'], usage['output_tokens']),
    seconds: pickQuantity(usage['seconds']),
  });
}

/** The body of an error as OpenAI's clients read it, also in a stream. */
export function encodeOpenaiFault({ message, code, status }: StreamFault): string {
  return JSON.stringify({
    error: { message, type: status === 429 ? 'rate_limit_error' : 'server_error', param: null, code },
  });
}
