import type { TaskFilterName } from './client-filters.ts';
import type { Lane, Step } from './api/task.ts';

/**
 * Every text of the console that is not data is in this file, in those of the webhooks' pages and of the form, or in
 * that of the operators' pages. Clients load this one, so nothing in it is about operators. Here is what all pages
 * share.
 */
export const words = {
  product: 'Reelgate',
  skip: 'Skip to the content',
  navigation: 'Pages',
  signOut: 'Sign out',
  signOutEverywhere: {
    title: 'Sign out everywhere',
    cancel: 'Stay signed in',
    means:
      'Every session with this key ends, in every browser and for everybody who uses it. The key itself stays valid.',
  },
  madeTokens: {
    madeBy: (maker: string) => `made by ${maker}`,
    alsoRevoke: (count: number) =>
      count === 1 ? 'Also revoke the token that it made' : `Also revoke the ${count} tokens that it made`,
    stays: (count: number) =>
      count === 1
        ? 'Otherwise that token stays valid, within the limits of its maker.'
        : 'Otherwise these tokens stay valid, within the limits of their makers.',
    revoked: (name: string, count: number) => {
      if (count === 0) return `${name} is revoked.`;
      return count === 1
        ? `${name} and the token that it made are revoked.`
        : `${name} and ${count} tokens that it made are revoked.`;
    },
  },
  loading: 'Loading',
  tryAgain: 'Try again',
  missingPage: {
    title: 'This page cannot be loaded',
    text: 'A file of the console did not arrive, or is broken. The other pages may still work.',
  },
  failedPage: {
    title: 'This page has failed',
    text: 'Something on it could not be drawn. The other pages may still work.',
  },
  chartMissing: 'The chart cannot be loaded. The table below has the same numbers.',
  notFound: { title: 'Page not found', text: 'The console has no page at this address.', home: 'Go to the first page' },
  failed: { title: 'This could not be read', request: 'Request' },
  copy: { copy: 'Copy', copied: 'Copied', what: (what: string) => `Copy ${what}` },
  live: {
    live: 'Live',
    polling: 'Updates every 5 s',
    off: 'No updates',
    paused: 'Paused',
    pause: 'Pause live updates',
    resume: 'Resume live updates',
    newRows: (count: number) => (count === 1 ? '1 new row' : `${count} new rows`),
  },
  /** Of the server that is gone, or has a fault. */
  outage: {
    silent: (since: string | undefined) =>
      since === undefined
        ? 'No answer from the server.'
        : `No answer from the server since ${since}; what you see is from then.`,
    slow: (since: string | undefined) =>
      since === undefined
        ? 'The server does not answer this page in time.'
        : `The server does not answer this page in time since ${since}; what you see is from then.`,
    failing: (status: number, since: string | undefined) =>
      since === undefined
        ? `The server answers with an error (${status}).`
        : `The server answers with an error (${status}) since ${since}; what you see is from then.`,
    asOf: (time: string) => `As of ${time}`,
    nothing: 'Nothing of this page could be read yet. It is tried again by itself.',
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
  },
  signIn: {
    title: 'Sign in',
    token: 'Token',
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
} as const;

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

export const timelineWords = {
  steps: STEPS,
  long: LONG,
  lanes: LANES,
  empty: 'Nothing is recorded yet.',
  soFar: (duration: string) => `${duration} so far`,
  after: (duration: string) => `+${duration}`,
  gap: (duration: string) => `${duration} without a step`,
  openGap: (duration: string) => `${duration} without a step so far`,
  answered: (answer: string) => (/^\d+$/.test(answer) ? `answered ${answer}` : `no answer: ${answer}`),
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
    used: (used: number, limit: number) => `${used} of ${limit}`,
    most: (limit: number) => `at most ${limit}`,
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
    find: 'Task id or idempotency key',
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
  none: 'No task matches.',
  noneYet: 'There are no tasks yet.',
  first: 'Make the first one',
  searchedTo: 'Searched back to',
};

/** The page of a task. */
export const taskWords = {
  title: 'Task',
  back: 'All tasks',
  id: 'task id',
  status: {
    queued: (age: string) => `Waiting for ${age}`,
    in_progress: (age: string) => `Running for ${age}`,
    completed: (took: string) => `Completed in ${took}`,
    failed: (took: string) => `Failed after ${took}`,
    progress: (percent: number) => `${percent} %`,
    announced: (state: string) => `The task is now: ${state}`,
    waitsFor: {
      capacity: 'It waits for a free place.',
      own_limit: 'It waits for the end of another task of its token, which is at its limit.',
      scheduled: 'It waits for its time.',
    },
    before: (count: number) =>
      count === 1 ? 'One task of its token is before it.' : `${count} tasks of its token are before it.`,
    isNext: 'It is the next one of its token.',
    starts: (when: string) => `It starts ${when}, as far as can be said now.`,
    startBy: (time: string) => `It fails if it has not begun by ${time}.`,
  },
  acts: {
    cancel: 'Cancel',
    cancelTitle: 'Cancel this task?',
    cancelText: 'It has not begun. What is held for it goes back to the account.',
    keep: 'Keep it',
    regenerate: 'Render at 2K',
    regenerateTitle: 'Render this video again at 2K?',
    regenerateText: 'A new task renders the same video at 2K. This one stays as it is.',
    again: 'Create again',
    delete: 'Delete',
    deleteTitle: 'Delete this task?',
    deleteText: 'The task and its result are removed for good. What was charged stays charged.',
    back: 'Back',
    estimating: 'Estimating the price',
    estimated: (amount: string) => `Estimated price: ${amount}`,
  },
  video: {
    title: 'Video',
    download: 'Download',
    kept: 'Kept until',
    size: 'Picture',
    length: 'Length',
    rate: 'Frame rate',
    file: 'File',
    pixels: (width: number, height: number) => `${width} × ${height}`,
    perSecond: (rate: string) => `${rate} frames a second`,
    waiting: 'The video will be here as soon as it is made.',
    gone: 'The video is not kept any more.',
    none: 'There is no video, because the task failed. Why: ',
    player: 'The video of this task',
  },
  text: 'Enhanced prompt',
  money: 'Money',
  timeline: 'Timeline',
  timelineUnavailable: 'The timeline cannot be read now.',
  request: {
    title: 'Request',
    prompt: 'Prompt',
    kind: 'Kind',
    model: 'Model',
    length: 'Length',
    resolution: 'Resolution',
    ratio: 'Ratio',
    created: 'Created',
    token: 'Token',
    requestId: 'Request id',
    references: 'References',
    source: 'Renders again',
    inline: 'sent with the request',
    roles: {
      first_frame: 'First frame',
      last_frame: 'Last frame',
      reference_image: 'Reference image',
      reference_video: 'Reference video',
      reference_audio: 'Reference sound',
      base_video: 'Base video',
      image: 'Image',
      video: 'Video',
      audio: 'Sound',
    },
    call: 'The same call',
    partial: 'Media that were sent with the request are left out.',
    noCall: 'No open path of the API expresses this order.',
    languages: { curl: 'curl', python: 'Python', javascript: 'JavaScript' },
    codeOf: (language: string) => `the call in ${language}`,
    seconds: (seconds: number) => `${seconds} s`,
  },
  webhooks: {
    title: 'Webhooks of this task',
    none: 'No webhook was sent for this task.',
    noRight: 'This token may not read webhooks.',
    unavailable: 'The webhooks of this task cannot be read now.',
  },
  raw: { title: 'Raw JSON', what: 'the answer of the API', path: (id: string) => `GET /v1/videos/${id}` },
};

/** The money of a task in sentences. */
export const moneyWords = {
  held: (amount: string, time: string, terms: string) =>
    `Held ${amount} at ${time} as estimated${terms === '' ? '' : `: ${terms}`}.`,
  pending: 'It is charged when the task ends.',
  deferred: 'The charge waits for a decision, because the usage is far above what was held.',
  charged: {
    usage: (amount: string) => `Charged ${amount} by usage.`,
    estimate: (amount: string) => `Charged ${amount}, as estimated.`,
    hold: (amount: string) => `Charged ${amount}, all that was held, because the usage is not known.`,
    released: () => 'Nothing was charged.',
  },
  nothingReturned: 'Nothing returned.',
  returned: (amount: string) => `${amount} returned.`,
  above: (amount: string) => `That is ${amount} above what was held.`,
  seconds: (count: string, each: string) => `${count} s × ${each}`,
  inputSeconds: (count: string, each: string) => `${count} s of reference video × ${each}`,
  images: (count: string, each: string) => `${count} ${count === '1' ? 'image' : 'images'} × ${each}`,
  request: (each: string) => `1 request × ${each}`,
  inputTokens: (count: string, each: string) => `${count} input tokens × ${each} per million`,
  outputTokens: (count: string, each: string) => `${count} output tokens × ${each} per million`,
  characters: (count: string, each: string) => `${count} characters × ${each} per million`,
  ledger: 'Every line of the ledger',
  contract: (key: string, version: number) => `Price ${key}, version ${version}`,
  columns: { event: 'Event', book: 'Book', amount: 'Amount', at: 'Time' },
  unavailable: 'The money of this task cannot be read now.',
  none: 'This task costs nothing, or its money is not recorded yet.',
};

/** Deliveries of webhooks, wherever they are listed. */
export const deliveryWords = {
  states: { pending: 'Pending', delivered: 'Delivered', failed: 'Failed' },
  columns: {
    event: 'Event',
    subject: 'About',
    state: 'State',
    attempts: 'Attempts',
    last: 'Last answer',
    at: 'Created',
    next: 'Next attempt',
  },
  noAnswer: 'no answer',
  because: (what: string, why: string) => `${what}: ${why}`,
  /** The reasons for which an attempt failed, or a delivery was given up. */
  errors: {
    status: 'the status is no success',
    redirect: 'redirects are not followed',
    address_refused: 'the host has no public address',
    not_reached: 'the receiver could not be reached',
    tls: 'the TLS handshake failed',
    timeout: 'it took more than 15 s',
    too_large: 'the answer is larger than 64 KiB',
    busy: 'it could not be sent at that moment',
    not_sent: 'it cannot be sent',
    endpoint_disabled: 'the endpoint was disabled',
    endpoint_removed: 'the endpoint was deleted',
  } as Readonly<Record<string, string>>,
  notYet: 'none yet',
  due: 'due now',
  caption: 'Deliveries',
};

/** The spending, day by day. */
export const usageWords = {
  title: 'Usage',
  period: 'Period',
  presets: { last7: '7 days', last30: '30 days', last90: '90 days', month: 'This month', before: 'Last month' },
  from: 'From',
  to: 'To',
  split: 'Split by',
  splits: { model: 'Model', token: 'Token' },
  csv: 'Download as CSV',
  total: 'Total',
  spent: 'Charged',
  requests: 'Tasks and calls',
  seconds: 'Seconds',
  inputTokens: 'Input tokens',
  outputTokens: 'Output tokens',
  images: 'Images',
  day: 'Day (UTC)',
  none: 'Nothing was charged in this period.',
  truncated: 'There is more than fits here; choose a shorter period.',
  byDay: 'Charges by day',
  sums: { model: 'Sums by model', token: 'Sums by token' },
  unnamed: 'without a name',
};

/** The ways in which the tasks of a token wait. */
export const tokenQueueWords = {
  labels: { wait: 'While all is busy', class: 'Waits as' },
  wait: {
    none: 'refuse',
    capacity: 'wait for a free place',
    own_limit: 'wait, also at its own limit',
  },
  class: { interactive: 'interactive (first)', standard: 'standard', batch: 'batch (last)' },
} as const;

/** The tokens of an account. */
export const tokensWords = {
  title: 'Tokens',
  caption: 'Tokens, each below the token that made it',
  none: 'There are no tokens.',
  noRight:
    'The token that you are signed in with may not see the tokens of its account. That takes the right ' +
    'tokens: read or tokens: write. Ask for a token with it where you got this one.',
  readOnly: 'The token that you are signed in with may see tokens, and neither make nor revoke them.',
  own: 'you are signed in with it',
  unnamed: 'without a name',
  everyModel: 'every model',
  noLimit: 'no limit of its own',
  of: (used: string, limit: string) => `${used} of ${limit}`,
  never: 'never',
  states: { live: 'In use', expired: 'Expired', revoked: 'Revoked' },
  columns: {
    name: 'Name',
    state: 'State',
    models: 'Models',
    spent: 'Spent and held',
    lastCharge: 'Last charge',
    expires: 'Expires',
    limits: 'Limits',
    rights: 'Rights',
    act: 'Action',
  },
  rights: {
    webhooks: { write: 'changes webhooks', read: 'sees webhooks', none: '' },
    tokens: { write: 'makes tokens', read: 'sees tokens', none: '' },
    none: 'tasks and calls only',
  },
  revoke: {
    open: 'Revoke',
    title: (name: string) => `Revoke the token ${name}?`,
    text: 'Programs that use it are refused within seconds. This cannot be undone. Its tasks go on.',
    own: 'You are signed in with this token, so you are signed out.',
    confirm: 'Revoke the token',
    cancel: 'Keep it',
  },
  make: {
    title: 'Make a token',
    lead: 'The new token can do no more than the one that you are signed in with.',
    name: 'Name',
    models: 'Models',
    allModels: 'Every model, also later ones',
    nameHint: 'What uses it, such as nightly-batch.',
    limit: 'Spending limit',
    limitHint: (currency: string) => `In ${currency}, in total. Empty: what the account has.`,
    expires: 'Expires',
    expiresHint: 'In your time zone. Empty: never.',
    webhooks: 'Webhooks',
    tokens: 'Tokens',
    choices: { write: 'see and change', read: 'see', none: 'none' },
    more: 'Limits on calls',
    moreHint: 'Empty: the limit of the service.',
    createsPerMinute: 'Creates a minute',
    readsPerMinute: 'Reads a minute',
    callsPerMinute: 'Calls a minute',
    inFlight: 'Tasks at a time',
    submit: 'Make the token',
  },
  made: {
    title: 'The key of the new token',
    text: 'This is the only time that it is shown. Copy it now and keep it like a password.',
    key: 'the key',
    done: 'I have kept it',
  },
};
