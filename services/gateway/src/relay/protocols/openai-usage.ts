import { objectIn, quantityOf, usageOf } from './quantities.ts';
import type { JsonObject, StreamFault, Usage } from './protocol.ts';

/** The `usage` of OpenAI's routes and of compatible ones: in two spellings, and for audio in seconds. */
export function openaiUsage(holder: JsonObject): Usage | undefined {
  const usage = objectIn(holder, 'usage');
  return usageOf({
    inputTokens: quantityOf(usage['prompt_tokens'], usage['input_tokens'], usage['total_tokens']),
    cachedInputTokens: quantityOf(
      objectIn(usage, 'input_tokens_details')['cached_tokens'],
      objectIn(usage, 'prompt_tokens_details')['cached_tokens'],
    ),
    outputTokens: quantityOf(usage['completion_tokens'], usage['output_tokens']),
    seconds: quantityOf(usage['seconds']),
  });
}

/** The body of an error as OpenAI's clients read it, also in a stream. */
export function openaiFault({ message, code, status }: StreamFault): string {
  return JSON.stringify({
    error: { message, type: status === 429 ? 'rate_limit_error' : 'server_error', param: null, code },
  });
}
