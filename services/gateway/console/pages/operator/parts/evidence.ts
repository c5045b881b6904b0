import type { JobView } from '../../../api/operator-jobs.ts';
import type { OperatorTaskView } from '../../../api/operator-tasks.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { At } from '../../../parts/time.ts';
import { evidenceWords } from '../evidence-words.ts';
import { recordWords } from '../record-words.ts';
import { AttemptTable } from './attempt-table.ts';
import { FoldedText } from './folded-text.ts';
import { HistoryList } from './history-list.ts';
import { OrderedAndReported } from './ordered-and-reported.ts';
import type { OrderedAndReportedProps } from './ordered-and-reported.ts';
import { orderLine } from './task-facts.ts';
import { OrderMedia } from './task-order.ts';

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
  const { task, attempts, history, text } = view;
  return html`
    <div class="beside">
      <section>
        <h3>${words.ordered}</h3>
        <p>${orderLine(task)}</p>
        <${OrderedAndReported} view=${view} row=${row} />
        <${OrderMedia} task=${task} />
      </section>
      <section>
        <h3>${words.prompt}</h3>
        ${
          task.fullPrompt === ''
            ? html`<p class="quiet">${recordWords.task.noPrompt}</p>`
            : html`<${FoldedText} text=${task.fullPrompt} name=${words.prompt} />`
        }
        ${
          text === undefined
            ? null
            : html`<h3>${recordWords.task.answer}</h3>
                <${FoldedText} text=${text} name=${recordWords.task.answer} />`
        }
      </section>
    </div>
    <h3>${words.known}</h3>
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
      <dt>${words.model}</dt>
      <dd>${job.model === '' ? NONE : job.model}</dd>
      <dt>${words.created}</dt>
      <dd><${At} at=${job.createdAt} /></dd>
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
