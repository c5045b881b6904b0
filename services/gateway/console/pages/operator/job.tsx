import type { VNode } from 'preact';
import { toCall, useCalls } from '../../state/calls.ts';
import type { PageProps } from '../../frame.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { readTime, readWord, requireValue } from '../../parts/contract-values.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Facts } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { At, durationText } from '../../parts/time.tsx';
import { ActList, listActs, toActCalls } from './parts/act-list.tsx';
import type { Act } from './parts/act-list.tsx';
import { AttentionNote, HistoryList } from './parts/history-list.tsx';
import { readJob } from './parts/job-facts.ts';
import type { JobFacts } from './parts/job-facts.ts';
import { recordWords } from './record-words.ts';

const ACTS_SHOWN = 20;

const words = recordWords.jobs;

export function page({ params }: PageProps): VNode {
  const id = params['jobId'] ?? '';
  const view = useCalls(
    {
      shown: toCall('tasks.OperatorService/ShowJob', { jobId: id }),
      attention: toCall('tasks.OperatorService/ListAttention', {}),
    },
    [],
    toActCalls({ subject: id, limit: ACTS_SHOWN }),
  );
  return (
    <>
      <PageTitle
        back={{ href: '/console/jobs', name: words.title }}
        title={words.job}
        id={id}
        beside={<CopyButton text={id} what={id} />}
      />
      <Loaded view={view}>
        {({ shown, attention, ...acts }) => (
          <OneJobView
            job={readJob(requireValue(shown.record))}
            isInAttention={attention.items.some(({ taskId }) => taskId === id)}
            acts={listActs(acts, ACTS_SHOWN)}
          />
        )}
      </Loaded>
    </>
  );
}

export interface OneJobViewProps {
  readonly job: JobFacts;
  /** True if the job waits for a decision of a person. */
  readonly isInAttention: boolean;
  readonly acts: readonly Act[];
}

export function OneJobView({ job, isInAttention, acts }: OneJobViewProps): VNode {
  const { id, accountId, tokenId, endpoint, model, state, starts, failure } = job;
  const createdAt = readTime(job.createdAt) ?? 0;
  const endedAt = readTime(job.completedAt);
  return (
    <>
      <p>
        <StateBadge state={readWord('TASK_STATE_', state)} />
      </p>
      {isInAttention ? <AttentionNote id={id} /> : null}
      {failure === undefined ? null : (
        <p class="note">
          <strong>{failure.message}</strong> <code>{failure.code}</code>
        </p>
      )}
      <Facts
        facts={[
          [words.account, <a href={`/console/accounts/${encodeURIComponent(accountId)}`}>{accountId}</a>],
          [words.token, <span class="id">{tokenId}</span>],
          [words.endpoint, endpoint],
          [words.model, model],
          [words.startsLong, starts],
          [words.created, <At at={createdAt} />],
          [words.ended, endedAt === undefined ? words.notEnded : <Ended at={endedAt} since={createdAt} />],
        ]}
      />
      <ActList acts={acts} title={recordWords.task.acts} />
      <h2>{words.history}</h2>
      <HistoryList events={job.events} isOpen />
    </>
  );
}

function Ended({ at, since }: { at: number; since: number }): VNode {
  return (
    <>
      <At at={at} /> ({durationText(at - since)})
    </>
  );
}
