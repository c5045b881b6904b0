import type { VNode } from 'preact';
import type { Endpoint } from '../../../api/webhooks.ts';
import { readTime } from '../../../parts/contract-values.ts';
import { Ago, durationText, useNow } from '../../../parts/time.tsx';
import { webhooksWords } from '../webhooks-words.ts';

const words = webhooksWords.health;

/** Shows whether deliveries arrive, by a word and a shape; if they do not, since when and why not. */
export function EndpointHealth({ endpoint, isLong = false }: { endpoint: Endpoint; isLong?: boolean }): VNode {
  const { disabledAt, disabledReason, failingSince, lastSuccessAt, lastFailureAt } = endpoint;
  if (disabledAt !== undefined) return renderDisabled(readTime(disabledAt), disabledReason, isLong);
  if (failingSince !== undefined)
    return (
      <span class="lines">
        <span class="state failed">
          <Shape of="✕" /> <FailingFor since={readTime(failingSince)} />
        </span>
        {isLong ? <span class="small quiet">{words.failingEnd}</span> : null}
      </span>
    );
  return lastSuccessAt === undefined && lastFailureAt === undefined ? (
    <span class="state">
      <Shape of="○" /> {words.unused}
    </span>
  ) : (
    <span class="state completed">
      <Shape of="●" /> {words.well}
    </span>
  );
}

/** Shows a disabled endpoint. One that a person disabled is not shown as failed. */
function renderDisabled(at: number, reason: string, isLong: boolean): VNode {
  const reasons: Readonly<Record<string, string>> = words.reasons;
  return (
    <span class="lines">
      <span class={reason === 'by_owner' ? 'state' : 'state failed'}>
        <Shape of="■" /> {words.disabled} <Ago at={at} />
      </span>
      <span class="small quiet">
        {reasons[reason] ?? reason} {isLong ? words.silent : null}
      </span>
    </span>
  );
}

function Shape({ of }: { of: string }): VNode {
  return <span aria-hidden="true">{of}</span>;
}

function FailingFor({ since }: { since: number }): VNode {
  return <span>{words.failing(durationText(useNow() - since))}</span>;
}
