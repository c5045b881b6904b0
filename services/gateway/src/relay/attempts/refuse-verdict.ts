import type { Problem } from '@reelgate/platform/problem';
import { scrubText } from '../answers/scrub-error.ts';
import type { Identities } from '../answers/scrub-error.ts';
import type { ErrorAnswer } from './attempt-result.ts';
import { refuse } from '../../refusals.ts';

/** The upstream's words that a refusal of content quotes. */
const QUOTED_MAX = 500;
/** The statuses that no client takes for a fault of its token and that no SDK repeats. */
const KEPT: ReadonlySet<number> = new Set([400, 413, 415, 422, 451]);

/**
 * Returns the refusal that replaces an upstream's error if a client would misread that error: a refusal of content with
 * the status of a credential or of a fault, a refusal of the size with the status of a limit, and a redirect. Returns
 * undefined if the error itself is shown.
 */
export function refuseVerdict(
  { status, verdict }: Pick<ErrorAnswer, 'status' | 'verdict'>,
  identities: Identities,
): Problem | undefined {
  if (verdict.class === 'redirect')
    return refuse('upstream_refused', {
      message: `the upstream redirects this request (status ${status}), and no redirect is followed`,
    });
  if (verdict.refusal === undefined || KEPT.has(status)) return undefined;
  const { message = '', reasons } = verdict.refusal;
  const words = scrubText(message, identities).slice(0, QUOTED_MAX);
  const named = reasons.length === 0 ? '' : ` (${scrubText(reasons.join(', '), identities)})`;
  if (verdict.class === 'request')
    return refuse('upstream_refused', { message: `the upstream refused the size of this request: ${words}` });
  return refuse('content_rejected', {
    message: `the upstream refused the content of this request${named}${words === '' ? '' : `: ${words}`}`,
  });
}
