/** The first page. */
export const homeWords = {
  title: 'Home',
  money: {
    title: 'Money',
    free: 'Free to spend',
    held: 'Held for running work',
    today: 'Spent today (UTC)',
    month: 'Spent in 30 days',
    balance: (amount: string) => `of a balance of ${amount}`,
    usage: 'Usage by day',
    unavailable: 'The money of the account cannot be read now.',
  },
  running: { title: 'Running', none: 'Nothing runs now.', all: 'All running tasks' },
  recent: { title: 'Last results', none: 'There are no results yet.', all: 'All completed tasks' },
  failures: { title: 'Last failures', none: 'No task has failed.', all: 'All failed tasks' },
  limits: {
    title: 'Limits of this token',
    none: 'This token has no limits of its own.',
    names: {
      creates_per_minute: 'Creates a minute',
      reads_per_minute: 'Reads a minute',
      calls_per_minute: 'Calls a minute',
      in_flight: 'Tasks at a time',
    },
    used: (used: number, limit: number) => `${String(used)} of ${String(limit)}`,
    most: (limit: number) => `at most ${String(limit)}`,
  },
  create: 'Create a video',
};
