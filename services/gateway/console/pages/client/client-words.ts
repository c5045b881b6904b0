import type { TaskFilterName } from '../../client-filters.ts';

/** The names of the pages in the navigation. */
export const navigationWords = {
  home: 'Home',
  tasks: 'Tasks',
  try: 'Playground',
  usage: 'Usage',
  webhooks: 'Webhooks',
  tokens: 'API tokens',
};

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
    none: 'There is no money left, so new videos are refused. Ask the person who gave you this token for credit.',
  },
  running: { title: 'Running', none: 'Nothing is being made now', all: 'All running tasks' },
  recent: {
    title: 'Latest videos',
    none: 'No videos yet',
    teach: 'Your finished videos appear here. Describe one in the playground to make the first.',
    all: 'All completed tasks',
  },
  failures: { title: 'Latest failures', none: 'No task has failed', all: 'All failed tasks' },
  limits: {
    title: 'Limits of your token',
    none: 'This token has no limits of its own.',
    names: {
      creates_per_minute: 'Creates a minute',
      reads_per_minute: 'Reads a minute',
      calls_per_minute: 'Calls a minute',
      in_flight: 'Tasks at a time',
    },
    used: (used: number, limit: number) => `${used.toLocaleString('en')} of ${limit.toLocaleString('en')}`,
    most: (limit: number) => `at most ${limit.toLocaleString('en')}`,
  },
  create: 'Create a video',
};

/** The list of tasks, and tasks in other lists. */
export const tasksWords = {
  title: 'Tasks',
  caption: 'Tasks, the newest first',
  filters: {
    legend: 'Filter',
    state: 'State',
    kind: 'Kind',
    model: 'Model',
    from: 'From',
    to: 'To',
    token: 'Token',
    label: 'Label',
    find: 'Words of the prompt, or an id',
    apply: 'Search',
    clear: 'Clear',
    all: 'All',
    running: 'Running',
  } satisfies Readonly<Record<TaskFilterName, string>> & Readonly<Record<string, string>>,
  columns: {
    picture: 'Picture',
    prompt: 'Prompt',
    order: 'Order',
    state: 'State',
    age: 'Created',
    took: 'Took',
    charge: 'Charge',
  },
  seconds: (seconds: number) => `${seconds} s`,
  percent: (progress: number) => `${progress} %`,
  progressOf: (progress: number) => `Progress: ${progress} %`,
  held: (amount: string) => `${amount} held`,
  notYet: '–',
  views: { legend: 'Show as', list: 'List', compact: 'Compact', gallery: 'Gallery' },
  total: (count: number, isLeast: boolean) => {
    const figure = `${count.toLocaleString('en')}${isLeast ? '+' : ''}`;
    return count === 1 && !isLeast ? '1 task' : `${figure} tasks`;
  },
  none: 'No task matches',
  noneTeach: 'Each word that you look for must stand in the prompt. Use fewer words, or fewer filters.',
  noneYet: 'No videos yet',
  noneYetTeach: 'Everything that you or your programs make is listed here, and is found again by words of its prompt.',
  first: 'Create a video',
  searchedTo: 'Searched back to',
};
