import type { JobView } from '../../../api/operator-jobs.ts';
import type { OperatorTaskView } from '../../../api/operator-tasks.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { At } from '../../../parts/time.ts';
import { operatorWords } from '../operator-words.ts';
import { AttemptTable } from './attempt-table.ts';
import { HistoryList } from './history-list.ts';

const words = operatorWords.evidence;
const NONE = '–';

/** What an operator needs to know before a decision over a task. */
export function TaskEvidence({ view: { task, attempts, history } }: { view: OperatorTaskView }): VNode {
  return html`
    <dl class="facts">
      <dt>${words.upstreamId}</dt>
      <dd class="id">${task.upstreamId === '' ? NONE : task.upstreamId}</dd>
      <dt>${words.upstreamStatus}</dt>
      <dd>${task.upstreamStatus === '' ? NONE : task.upstreamStatus}</dd>
      <dt>${words.admission}</dt>
      <dd>${words.admissions[task.admission] ?? task.admission}</dd>
      <dt>${words.pollErrors}</dt>
      <dd>${task.pollErrors}</dd>
      <dt>${words.nextPoll}</dt>
      <dd>${task.nextPollAt === undefined ? words.noPoll : html`<${At} at=${task.nextPollAt} />`}</dd>
    </dl>
    <${AttemptTable} attempts=${attempts} />
    <${HistoryList} history=${history} />
  `;
}

/** The same for a job. */
export function JobEvidence({ view: { job, history } }: { view: JobView }): VNode {
  return html`
    <dl class="facts">
      <dt>${words.endpoint}</dt>
      <dd>${job.endpoint}</dd>
      <dt>${words.starts}</dt>
      <dd>${job.starts}</dd>
      ${
        job.failure === undefined
          ? null
          : html`<dt>${words.failure}</dt>
              <dd>${job.failure.message} <code>${job.failure.code}</code></dd>`
      }
    </dl>
    <${HistoryList} history=${history} isOpen=${true} />
  `;
}
