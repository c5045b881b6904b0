import { KEYS } from '../harness/test-config.ts';
import { UNHURRIED } from './relay-baseline.ts';
import { requestOf } from './wire.ts';

const PATH = '/v1/chat/completions';
/** What the product calls the model, and what its upstream calls it. */
export const MODEL = 'solo';
export const UPSTREAM_MODEL = 'vendor-secret-model-2026';

/**
 * JSON of an upstream that answers at once, so that added time is time in the gateway's queue; and JSON of an upstream
 * that takes 10 ms.
 */
export const KINDS = ['JSON', 'JSON after 10 ms', 'SSE'] as const;
export type Kind = (typeof KINDS)[number];

interface ChatCaller {
  readonly headers?: readonly string[];
  readonly token?: string | undefined;
}

export function chatRequest(kind: Kind, model: string, { headers = [], token = KEYS.demo }: ChatCaller = {}): Buffer {
  const words = kind === 'JSON after 10 ms' ? UNHURRIED : 'a red boat at dawn';
  const content = `${words}; ${'the camera glides over the water. '.repeat(20)}`;
  return requestOf({
    method: 'POST',
    target: PATH,
    token,
    headers,
    body: {
      model,
      messages: [{ role: 'user', content }],
      max_tokens: 100,
      ...(kind === 'SSE' ? { stream: true } : {}),
    },
  });
}
