/**
 * The texts that the pages of both doors share. Each door has its own beside its pages, in `client-words.ts` and
 * `operator-words.ts`. Clients load this file, so nothing in it is about operators.
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
  filters: (count: number) => (count === 0 ? 'Filters' : `Filters (${count})`),
  account: 'Account and sign-out',
  tryAgain: 'Try again',
  missingPage: {
    title: 'This page cannot be loaded',
    text: 'A file of the console did not arrive, or is broken. The other pages may still work.',
  },
  failedPage: {
    title: 'This page has failed',
    text: 'Something on it could not be drawn. The other pages may still work.',
  },
  notFound: { title: 'Page not found', text: 'The console has no page at this address.', home: 'Go to the first page' },
  failed: { title: 'This could not be read', request: 'Request' },
  /** Refusals and failures whose messages are for a program, by their codes. */
  faults: {
    invalid_api_key: () => 'This token is not known here. Check that you have copied all of it.',
    insufficient_quota: (shortage: string) =>
      `There is not enough money: ${shortage}. Ask the person who gave you this token for more.`,
    caller_left: () => 'The program that asked for it had gone before the work began.',
  },
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
