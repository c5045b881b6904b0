import type { Answer } from './call.ts';
import { is, mismatch } from './matchers.ts';
import type { Request } from './row.ts';

/** Envelopes of refusals, by path: those of `chooseEnvelope`, written once more from the contract. */
const ENVELOPES: readonly (readonly [RegExp, unknown])[] = [
  [
    /^\/v2(\/|$)/,
    { type: 'error', error: { type: is.text, message: /\S \(\d{4}\)$/, http_code: /^\d{3}$/ }, request_id: is.text },
  ],
  [/^\/mcp(\/|$)/, { jsonrpc: '2.0', id: null, error: { code: /^-?\d+$/, message: is.text, data: { code: is.text } } }],
  [/^(\/api)?\/v1\/messages(\/|$)/, { type: 'error', error: { type: is.text, message: is.text } }],
  [/^\/api\/v1(\/|$)/, { error: { code: is.count, message: is.text, metadata: { reason: is.text } } }],
  [/^\//, { error: { message: is.text, type: is.text, code: is.textOrNull } }],
];
/** Text that would reveal the inside of the service. */
const INSIDE = /node_modules|\\n\s+at \S+ \(|\/services\/|\.ts:\d+/;

/** Checks what every answer must have: a request id, an envelope, and nothing of the upstream. */
export function everyAnswerFault(request: Request, answer: Answer, secrets: readonly string[]): string | undefined {
  const { headers, text, status } = answer;
  const all = `${JSON.stringify(headers)}\n${text}`;
  const secret = secrets.find((one) => all.includes(one));
  if (secret !== undefined) return `the answer tells ${JSON.stringify(secret)}, which belongs to the upstream`;
  if (
    headers['x-request-id'] === undefined &&
    !request.path.startsWith('http') &&
    !/^\/(healthz|readyz)/.test(request.path)
  )
    return 'the answer has no x-request-id';
  if (status < 400) return undefined;
  if (INSIDE.test(text)) return `the refusal shows the inside of the service: ${text.slice(0, 300)}`;
  return request.method === 'HEAD' || ownShape(request) ? undefined : envelopeFault(pathOf(request), answer);
}

const pathOf = ({ path }: Request): string => new URL(path, 'http://gateway').pathname;

/** The envelope of a path. A row names the envelope itself if the client's headers choose it. */
function ownShape({ headers = {}, path }: Request): boolean {
  return path.includes('?key=') || ['anthropic-version', 'x-goog-api-key', 'x-api-key'].some((name) => name in headers);
}

function envelopeFault(path: string, { json, headers, status }: Answer): string | undefined {
  const [, envelope] = ENVELOPES.find(([pattern]) => pattern.test(path)) ?? [];
  if (!String(headers['content-type']).startsWith('application/json'))
    return `a refusal of type ${String(headers['content-type'])}, expected JSON`;
  const fault =
    path.startsWith('/v1beta') || /^\/v1\/models\/[^/]+:/.test(path)
      ? mismatch(json, { error: { code: status, message: is.text, status: is.text } })
      : mismatch(json, envelope);
  return fault && `${fault}; the envelopes by path are ENVELOPES of test/contract/engine/every-answer.ts`;
}
