import type { VNode } from 'preact';
import type { OperatorTaskView } from '../../../api/operator-tasks.ts';
import { readTime } from '../../../parts/contract-values.ts';
import { At } from '../../../parts/time.tsx';
import { evidenceWords } from '../evidence-words.ts';
import { recordWords } from '../record-words.ts';
import { AttemptTable } from './attempt-table.tsx';
import { FoldedText } from './folded-text.tsx';
import { HistoryList } from './history-list.tsx';
import type { JobFacts } from './job-facts.ts';
import { OrderedAndReported } from './ordered-and-reported.tsx';
import type { OrderedAndReportedProps } from './ordered-and-reported.tsx';
import { orderLine } from './task-facts.tsx';
import { OrderMedia } from './task-order.tsx';

const words = evidenceWords.evidence;
const NONE = '–';

export interface TaskEvidenceProps {
  readonly view: OperatorTaskView;
  readonly row: OrderedAndReportedProps['row'];
}

/**
 * Shows the facts that an operator needs before a decision over a task: the order beside its prompt, and what became of
 * it.
 */
export function TaskEvidence({ view, row }: TaskEvidenceProps): VNode {
  const { task, record, text } = view;
  return (
    <>
      <div class="beside">
        <section>
          <h3>{words.ordered}</h3>
          <p>{orderLine(task)}</p>
          <OrderedAndReported view={view} row={row} />
          <OrderMedia task={task} />
        </section>
        <section>
          <h3>{words.prompt}</h3>
          {task.fullPrompt === '' ? (
            <p class="quiet">{recordWords.task.noPrompt}</p>
          ) : (
            <FoldedText text={task.fullPrompt} name={words.prompt} />
          )}
          {text === undefined ? null : (
            <>
              <h3>{recordWords.task.answer}</h3>
              <FoldedText text={text} name={recordWords.task.answer} />
            </>
          )}
        </section>
      </div>
      <h3>{words.known}</h3>
      <dl class="facts">
        <dt>{words.upstreamId}</dt>
        <dd class="id">{record.upstreamId === '' ? NONE : record.upstreamId}</dd>
        <dt>{words.upstreamStatus}</dt>
        <dd>{record.upstreamStatus === '' ? NONE : record.upstreamStatus}</dd>
        <dt>{words.admission}</dt>
        <dd>{words.admissions[record.admission] ?? record.admission}</dd>
        <dt>{words.pollErrors}</dt>
        <dd>{record.pollErrors}</dd>
        <dt>{words.nextPoll}</dt>
        <dd>{record.nextPollAt === undefined ? words.noPoll : <At at={readTime(record.nextPollAt)} />}</dd>
      </dl>
      <AttemptTable attempts={record.attempts} />
      <HistoryList events={record.events} />
    </>
  );
}

/** The same for a job. */
export function JobEvidence({ job }: { job: JobFacts }): VNode {
  return (
    <>
      <dl class="facts">
        <dt>{words.endpoint}</dt>
        <dd>{job.endpoint}</dd>
        <dt>{words.model}</dt>
        <dd>{job.model === '' ? NONE : job.model}</dd>
        <dt>{words.created}</dt>
        <dd>
          <At at={readTime(job.createdAt) ?? 0} />
        </dd>
        <dt>{words.starts}</dt>
        <dd>{job.starts}</dd>
        {job.failure === undefined ? null : (
          <>
            <dt>{words.failure}</dt>
            <dd>
              {job.failure.message} <code>{job.failure.code}</code>
            </dd>
          </>
        )}
      </dl>
      <HistoryList events={job.events} isOpen />
    </>
  );
}
