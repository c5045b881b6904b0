import type { VNode } from 'preact';
import type { JobView } from '../../api/operator-jobs.ts';
import { useCalls } from '../../state/calls.ts';
import { useView } from '../../state/use-view.ts';
import type { PageProps } from '../../frame.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { At, durationText } from '../../parts/time.tsx';
import { ActList } from './parts/act-list.tsx';
import { listActs, toActCalls } from './parts/acts.ts';
import type { Act } from './parts/acts.ts';
import { AttentionNote, HistoryList } from './parts/history-list.tsx';
import { recordWords } from './record-words.ts';

const ACTS_SHOWN = 20;

const words = recordWords.jobs;

export function page({ params }: PageProps): VNode {
  const id = params['jobId'] ?? '';
  const view = useView<JobView>(`/jobs/${encodeURIComponent(id)}`);
  const acts = useCalls({}, [], toActCalls({ subject: id, limit: ACTS_SHOWN }));
  return (
    <>
      <PageTitle
        back={{ href: '/console/jobs', name: words.title }}
        title={
          <>
            {words.job} <span class="id">{id}</span>
          </>
        }
        beside={<CopyButton text={id} what={id} />}
      />
      <Loaded view={view}>{(job) => <OneJobView view={job} acts={listActs(acts.data ?? {}, ACTS_SHOWN)} />}</Loaded>
    </>
  );
}

export interface OneJobViewProps {
  readonly view: JobView;
  readonly acts: readonly Act[];
}

export function OneJobView({ view: { job, history, isInAttention }, acts }: OneJobViewProps): VNode {
  const { id, accountId, tokenId, endpoint, model, state, starts, createdAt, endedAt, failure } = job;
  return (
    <>
      <p>
        <StateBadge state={state} />
      </p>
      {isInAttention ? <AttentionNote id={id} /> : null}
      {failure === undefined ? null : (
        <p class="note">
          <strong>{failure.message}</strong> <code>{failure.code}</code>
        </p>
      )}
      <dl class="facts">
        <dt>{words.account}</dt>
        <dd>
          <a href={`/console/accounts/${encodeURIComponent(accountId)}`}>{accountId}</a>
        </dd>
        <dt>{words.token}</dt>
        <dd class="id">{tokenId}</dd>
        <dt>{words.endpoint}</dt>
        <dd>{endpoint}</dd>
        <dt>{words.model}</dt>
        <dd>{model}</dd>
        <dt>{words.startsLong}</dt>
        <dd>{starts}</dd>
        <dt>{words.created}</dt>
        <dd>
          <At at={createdAt} />
        </dd>
        <dt>{words.ended}</dt>
        <dd>
          {endedAt === undefined ? (
            words.notEnded
          ) : (
            <>
              <At at={endedAt} /> ({durationText(endedAt - createdAt)})
            </>
          )}
        </dd>
      </dl>
      <ActList acts={acts} title={recordWords.task.acts} />
      <h2>{words.history}</h2>
      <HistoryList history={history} isOpen />
    </>
  );
}
