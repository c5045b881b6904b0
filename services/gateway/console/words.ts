/** The texts of the console that are not data. Those of the operators' pages are in `pages/operator/words.ts`. */
export const words = {
  product: 'Reelgate',
  skip: 'Skip to the content',
  navigation: 'Pages',
  signOut: 'Sign out',
  loading: 'Loading',
  tryAgain: 'Try again',
  notFound: { title: 'Page not found', text: 'The console has no page at this address.', home: 'Go to the first page' },
  failed: { title: 'This could not be read', request: 'Request' },
  copy: { copy: 'Copy', copied: 'Copied', what: (what: string) => `Copy ${what}` },
  live: {
    live: 'Live',
    polling: 'Updates every 5 s',
    paused: 'Paused',
    pause: 'Pause live updates',
    resume: 'Resume live updates',
    newRows: (count: number) => (count === 1 ? '1 new row' : `${String(count)} new rows`),
  },
  pages: {
    older: 'Older',
    newest: 'Newest',
    searchOn: 'Search further back',
    none: 'Nothing here',
  },
  states: {
    queued: 'Queued',
    in_progress: 'In progress',
    completed: 'Completed',
    failed: 'Failed',
  },
  kinds: { generation: 'Generation', regeneration: 'Regeneration', context_ir: 'Prompt enhancement' },
  nav: {
    home: 'Home',
    tasks: 'Tasks',
    try: 'Try',
    usage: 'Usage',
    webhooks: 'Webhooks',
    tokens: 'Tokens',
    now: 'Now',
    attention: 'Attention',
    channels: 'Channels',
    money: 'Money',
    accounts: 'Accounts',
    jobs: 'Jobs',
    configuration: 'Configuration',
  },
  signIn: {
    title: 'Sign in',
    token: 'Token',
    key: 'Operator key',
    submit: 'Sign in',
    kept: 'The browser keeps it in an encrypted cookie that pages cannot read, for 12 hours at most.',
    docs: 'Documentation of the API',
  },
  time: {
    ago: (text: string) => `${text} ago`,
    in: (text: string) => `in ${text}`,
    now: 'just now',
    utc: (text: string) => `${text} UTC`,
  },

  // --- home ---
  home: {},
  // --- tasks ---
  tasks: {},
  // --- task ---
  task: {},
  // --- usage ---
  usage: {},
  // --- webhooks ---
  webhooks: {},
  // --- try ---
  try: {},
  // --- tokens ---
  tokens: {},
} as const;
