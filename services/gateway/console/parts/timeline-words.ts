import type { Lane, Step } from '../api/task.ts';

/** The names of a step when it is over, and while it lasts. */
const STEPS: Readonly<Record<Step, readonly [done: string, open: string]>> = {
  created: ['Created', 'Created'],
  prepared: ['Media fetched and checked', 'Fetching and checking the media'],
  submitted: ['Submitted', 'Submitting'],
  queued: ['Waited in the queue', 'Waiting in the queue'],
  in_progress: ['Video made', 'Making the video'],
  checked: ['Checked by a person', 'A person is checking it'],
  fetched: ['Video fetched and stored', 'Fetching and storing the video'],
  completed: ['Completed', 'Completed'],
  failed: ['Failed', 'Failed'],
  held: ['Held', 'Held'],
  settled: ['Charged', 'Charged'],
  webhook: ['Webhook sent', 'Sending a webhook'],
};

/** Long steps, as a reader asks for them: where has the time gone? */
const LONG: Readonly<Partial<Record<Step, (duration: string) => string>>> = {
  prepared: (duration) => `${duration} to fetch and check the media`,
  submitted: (duration) => `${duration} to find somebody who takes it`,
  queued: (duration) => `${duration} in the queue`,
  in_progress: (duration) => `${duration} to make the video`,
  checked: (duration) => `${duration} until a person decided`,
  fetched: (duration) => `${duration} to fetch and store the video`,
};

const LANES: Readonly<Record<Lane, string>> = {
  service: 'Reelgate',
  upstream: 'Generator',
  money: 'Money',
  client: 'Webhooks',
};

/** The meanings of the colours of the bar. */
export type Colour = 'ours' | 'waits' | 'makes' | 'holds' | 'done' | 'failed';

export const timelineWords = {
  steps: STEPS,
  long: LONG,
  lanes: LANES,
  legend: {
    title: 'Colours of the bar',
    ours: 'Work of Reelgate',
    waits: 'Waits and checks',
    makes: 'The video is made',
    holds: 'Money is held',
    done: 'Done',
    failed: 'Failed',
  } satisfies Readonly<Record<Colour | 'title', string>>,
  empty: 'Nothing is recorded yet.',
  soFar: (duration: string) => `${duration} so far`,
  after: (duration: string) => `+${duration}`,
  gap: (duration: string) => `${duration} without a step`,
  openGap: (duration: string) => `${duration} without a step so far`,
  answered: (answer: string) => (/^\d+$/.test(answer) ? `answered ${answer}` : `no answer: ${answer}`),
};
