import type { Log } from '@reelgate/platform/log';
import type { AttemptEnd } from './forward-call.ts';
import type { RelayChannel } from '../channels/relay-channels.ts';
import { toEndLabel } from '../relay-metrics.ts';
import { isFault } from './try-channels.ts';

/** Logs a failed attempt: the client may never see it. */
export function logAttempt(
  log: Log,
  { requestId, model }: { readonly requestId: string; readonly model: string },
  { settings: { id: channel } }: RelayChannel,
  attempt: { readonly end: AttemptEnd; readonly ms: number },
): void {
  const { end, ms } = attempt;
  if (isFault(end))
    log.warn(
      {
        requestId,
        channel,
        model,
        end: toEndLabel(end),
        ms,
        ...('error' in end ? { fault: describeFault(end.error) } : {}),
      },
      'a channel failed',
    );
}

/** Only the code: a message may quote the request. */
function describeFault(error: Error): string {
  return (error as { readonly code?: string }).code ?? error.name;
}
