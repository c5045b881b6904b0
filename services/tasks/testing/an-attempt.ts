import type { PlannedAttempt } from '../src/channels/channel.ts';

/** The attempt of a text for five seconds at 16:9, with the changes of the test. */
export function anAttempt(changes: Partial<PlannedAttempt> = {}): PlannedAttempt {
  return {
    key: 'task_1-1',
    kind: 'generation',
    model: 'up-1',
    content: [{ text: 'a fox' }],
    duration: 5,
    resolution: '768P',
    ratio: '16:9',
    ...changes,
  };
}
