/** The ways in which the tasks of a token wait. */
export const tokenQueueWords = {
  labels: { wait: 'While all is busy', class: 'Waits as' },
  wait: {
    none: 'refuse',
    channels: 'wait for a free place',
    own_limit: 'wait, also at its own limit',
  },
  class: { interactive: 'interactive (first)', standard: 'standard', batch: 'batch (last)' },
} as const;
