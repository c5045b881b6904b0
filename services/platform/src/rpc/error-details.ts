import { durationFromMs } from '@bufbuild/protobuf/wkt';
import type { ConnectError } from '@connectrpc/connect';
import type { Problem } from '../problem.ts';
import { BadRequestSchema, ErrorInfoSchema, QuotaFailureSchema, RetryInfoSchema } from './error-details-descriptor.ts';

type Detail = Extract<ConnectError['details'][number], { readonly desc: unknown }>;

const DOMAIN = 'reelgate';
/** The limit of Google's API guide. */
const REASON_LENGTH_MAX = 63;
/** With these limits the details fit into the trailer together with the longest Problem. */
const DESCRIPTION_LENGTH_MAX = 500;

/** The same refusal in the standard messages of `google.rpc`, for clients that know nothing of Problem. */
export function toErrorDetails({ kind, reason, message, field = '', retryAfterMs = 0 }: Problem): readonly Detail[] {
  const code = cut(reason, REASON_LENGTH_MAX).toUpperCase();
  const description = cut(message, DESCRIPTION_LENGTH_MAX);
  const details: Detail[] = [{ desc: ErrorInfoSchema, value: { reason: code, domain: DOMAIN } }];
  if (field !== '') {
    const violation = { field: cut(field, DESCRIPTION_LENGTH_MAX), description, reason: code };
    details.push({ desc: BadRequestSchema, value: { fieldViolations: [violation] } });
  }
  if (retryAfterMs > 0)
    details.push({ desc: RetryInfoSchema, value: { retryDelay: durationFromMs(Math.ceil(retryAfterMs)) } });
  if (kind === 'exhausted')
    details.push({ desc: QuotaFailureSchema, value: { violations: [{ subject: `${DOMAIN}:${code}`, description }] } });
  return details;
}

function cut(text: string, max: number): string {
  return text.slice(0, max).toWellFormed();
}
