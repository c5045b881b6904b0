import type { Metrics } from '@reelgate/platform/metrics';
import type { Counts } from './operations/deps.ts';

/** The numbers of this service, in the words that dashboards know. */
export function counts(metrics: Metrics): Counts {
  const attempts = metrics.counter('reelgate_attempts_total', 'Attempts by channel and outcome', ['channel', 'outcome']);
  const finished = metrics.counter('reelgate_tasks_finished_total', 'Finished tasks by kind and state', ['kind', 'state']);
  const attention = metrics.counter('reelgate_attention_total', 'Tasks put before a person, by reason', ['reason']);
  const polls = metrics.counter('reelgate_polls_total', 'Looks at an upstream by channel and outcome', ['channel', 'outcome']);
  const softDeadlines = metrics.counter('reelgate_soft_deadline_total', 'Tasks past the soft deadline', []);
  return {
    attempt: (channel, outcome) => { attempts.inc({ channel, outcome }); },
    finished: (kind, state) => { finished.inc({ kind, state }); },
    attention: (reason) => { attention.inc({ reason }); },
    softDeadline: () => { softDeadlines.inc({}); },
    poll: (channel, outcome) => { polls.inc({ channel, outcome }); },
  };
}
