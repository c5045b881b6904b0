import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { Attempt, Delivery, DeliveryView } from '../../api/webhooks.ts';
import type { PageProps } from '../../frame.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { readTime } from '../../parts/contract-values.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Facts } from '../../parts/data-table.tsx';
import type { Fact } from '../../parts/data-table.tsx';
import { FaultLine, Loaded } from '../../parts/loaded.tsx';
import { At, durationText } from '../../parts/time.tsx';
import { useMe } from '../../state/door.ts';
import { useDueReads } from '../../state/use-due-reads.ts';
import { useView } from '../../state/use-view.ts';
import { DeliveryState, errorText, lastAnswer, readDeliveryState } from '../../parts/delivery-state.tsx';
import { Due } from './parts/delivery-table.tsx';
import { SubjectLink } from '../../parts/links.tsx';
import { webhooksWords } from './webhooks-words.ts';
import { useAct } from '../../state/use-act.ts';
import { ActDialog } from './parts/act-dialog.tsx';

const SECOND_MS = 1000;

const words = webhooksWords.delivery;

export function page({ params }: PageProps): VNode {
  const endpoint = encodeURIComponent(params['endpointId'] ?? '');
  const id = params['deliveryId'] ?? '';
  const isAllowed = useMe().webhooks !== 'none';
  const path = `/webhooks/${endpoint}/${encodeURIComponent(id)}`;
  const view = useView<DeliveryView>(isAllowed ? path : undefined, isAllowed ? ['webhooks'] : []);
  useDueReads(
    useMemo(() => (view.data === undefined ? [] : [view.data.delivery]), [view.data]),
    view.refresh,
  );
  return (
    <>
      <PageTitle
        back={{ href: `/console/webhooks/${endpoint}`, name: words.back }}
        title={words.title}
        id={id}
        beside={<CopyButton text={id} what={words.what} />}
      />
      {isAllowed ? (
        <Loaded view={view}>{(shown) => <DeliveryPage view={shown} onChanged={view.refresh} />}</Loaded>
      ) : (
        <p class="note">{webhooksWords.noRight}</p>
      )}
    </>
  );
}

/** Shows the sent body, and each attempt with the answer of the receiver. */
export function DeliveryPage({ view, onChanged }: { view: DeliveryView; onChanged: () => void }): VNode {
  const { delivery, canChange } = view;
  const { eventType, eventId, subjectId, url, createdAt, endedAt, attempts } = delivery;
  const { facts } = words;
  const rows: readonly Fact[] = [
    [facts.event, eventType],
    [
      facts.eventId,
      <>
        <span class="id">{eventId}</span> <span class="quiet">{words.eventIdHint}</span>
      </>,
    ],
    [facts.subject, <SubjectLink id={subjectId} />],
    [facts.url, url],
    [facts.created, <At at={readTime(createdAt)} />],
    ...(endedAt === undefined ? [] : [[facts.ended, <At at={readTime(endedAt)} />] as const]),
  ];
  return (
    <>
      <Status delivery={delivery} />
      <Facts facts={rows} />
      {canChange ? (
        <ResendDelivery delivery={delivery} onChanged={onChanged} />
      ) : (
        <p class="quiet">{webhooksWords.readOnly}</p>
      )}
      <h2>{words.attempts}</h2>
      {attempts.length === 0 ? <p class="quiet">{words.noAttempts}</p> : null}
      <ol class="attempts" reversed>
        {attempts.toReversed().map((attempt: Attempt) => (
          <li key={attempt.number}>
            <AttemptCard attempt={attempt} />
          </li>
        ))}
      </ol>
    </>
  );
}

/** Shows the outcome of a delivery, or its next attempt. */
function Status({ delivery }: { delivery: Delivery }): VNode {
  const { state, attemptCount, nextAttemptAt } = delivery;
  const told = {
    delivered: () => words.accepted(attemptCount),
    failed: () => words.givenUp(lastAnswer(delivery)),
    pending: () => (
      <>
        {words.attemptsMade(attemptCount)}. {words.waits} <Due at={readTime(nextAttemptAt) ?? 0} />
      </>
    ),
  }[readDeliveryState(state)];
  return (
    <p class="delivery-status">
      <DeliveryState state={state} /> <span>{told()}</span>
    </p>
  );
}

/** One attempt: when, how it went, and both sides of it. The answer is shown as text. */
function AttemptCard({ attempt }: { attempt: Attempt }): VNode {
  const { number, at, statusCode, error, requestHeaders, answerHead: answer } = attempt;
  const outcome = statusCode === 0 ? words.noAnswer : words.answered(statusCode);
  const headers = Object.entries(requestHeaders).map(([name, value]) => `${name}: ${value}`);
  return (
    <div class="card">
      <h3>{words.attempt(number)}</h3>
      <p>
        <span class={`state ${error === '' ? 'completed' : 'failed'}`}>
          <span aria-hidden="true">{error === '' ? '●' : '✕'}</span> {outcome}
        </span>{' '}
        {error === '' || error === 'status' ? '' : `(${errorText(error)}) `}
        {words.took(tookText(Number(attempt.durationMs)))}
        <span class="quiet">
          {' '}
          · <At at={readTime(at)} />
        </span>
      </p>
      <details>
        <summary>{words.headers}</summary>
        {headers.length === 0 ? (
          <p class="quiet">{words.noHeaders}</p>
        ) : (
          <>
            <pre tabindex={0} aria-label={words.headers}>
              {headers.join('\n')}
            </pre>
            <p class="quiet small">{words.withoutSignature}</p>
          </>
        )}
      </details>
      <details open={error !== '' && answer !== ''}>
        <summary>{words.answer}</summary>
        {answer === '' ? (
          <p class="quiet">{words.emptyAnswer}</p>
        ) : (
          <>
            <pre tabindex={0} aria-label={words.answer}>
              {answer}
            </pre>
            <p class="quiet small">{words.answerStart}</p>
          </>
        )}
      </details>
    </div>
  );
}

/** Most answers come within a second. */
function tookText(ms: number): string {
  return ms < SECOND_MS ? words.milliseconds(ms) : durationText(ms);
}

/** Sends a delivery at once. What the receiver has accepted already asks once more. */
function ResendDelivery({ delivery, onChanged }: { delivery: Delivery; onChanged: () => void }): VNode {
  const state = readDeliveryState(delivery.state);
  const [isAsking, setAsking] = useState(false);
  const [isDone, setDone] = useState(false);
  const done = (): void => {
    setAsking(false);
    setDone(true);
    onChanged();
  };
  const { act, isBusy, fault } = useAct<unknown>(done);
  const path = `/v1/webhook_deliveries/${encodeURIComponent(delivery.id)}/resend`;
  const press = (): void => {
    if (state === 'delivered') setAsking(true);
    else act(path);
  };
  return (
    <div>
      <p class="actions">
        <button type="button" disabled={isBusy} onClick={press}>
          {state === 'pending' ? words.sendNow : words.resend}
        </button>
        <span role="status">{isDone && !isBusy && fault === undefined ? words.resent : ''}</span>
      </p>
      <FaultLine text={fault?.message} />
      {isAsking ? (
        <ActDialog
          title={words.resendTitle}
          confirm={words.resend}
          cancel={words.resendBack}
          path={path}
          onDone={done}
          onClose={() => setAsking(false)}
        >
          <p>{words.resendText}</p>
        </ActDialog>
      ) : null}
    </div>
  );
}
