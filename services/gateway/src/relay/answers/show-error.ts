import { Problem } from '@reelgate/platform/problem';
import type { ProblemKind } from '@reelgate/platform/problem';
import type { CallSink } from './call-sink.ts';
import type { ErrorAnswer } from '../attempts/forward-call.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import type { RelayChannel } from '../channels/relay-channels.ts';
import { scrubError } from './scrub-error.ts';

/** The refusals for statuses whose body cannot be read. */
const KINDS: Readonly<Record<number, readonly [ProblemKind, string]>> = {
  404: ['not_found', 'not_found'],
  408: ['unavailable', 'upstream_timeout'],
  409: ['conflict', 'upstream_refused'],
  413: ['invalid', 'body_too_large'],
  415: ['invalid', 'unsupported_media_type'],
  422: ['unprocessable', 'upstream_refused'],
  429: ['exhausted', 'rate_limit_exceeded'],
};

/**
 * Shows a client an upstream's error without the upstream's identities. An unreadable error becomes a refusal of the
 * gateway.
 */
export function showError(
  sink: CallSink,
  call: RelayCall,
  channel: RelayChannel,
  { status, headers, body }: ErrorAnswer,
): void {
  const identities = channel.findIdentities(call.model);
  const scrubbed = scrubError(body, identities.inErrors);
  if (scrubbed === undefined) throw gatewayRefusal(status);
  sink.begin(status, {
    ...identities.headersBack(headers),
    'content-type': 'application/json',
    'content-length': String(scrubbed.length),
  });
  sink.end(scrubbed, {});
}

function gatewayRefusal(status: number): Problem {
  const [kind, reason] =
    KINDS[status] ??
    (status >= 500 ? (['unavailable', 'upstream_failed'] as const) : (['invalid', 'upstream_refused'] as const));
  return new Problem({ kind, reason, message: `the upstream refused the request with status ${status}` });
}
