/** The texts of the page of a search. */
export const searchWords = {
  search: {
    title: 'Search',
    lead: 'By the id of a task, a job, an upstream, a request, a trace, a token, an account or a channel, by the last four characters of a key, or by words of a prompt.',
    none: (value: string) => `Nothing was found for “${value}”.`,
    noneHint: 'An id must be whole. Words are those of prompts; an account is found by its beginning.',
    found: 'Found',
    what: 'What',
    id: 'Id',
    by: 'Found by',
    account: 'Account',
    model: 'Model',
    created: 'Created',
    kinds: {
      task: 'Task',
      job: 'Job',
      account: 'Account',
      token: 'Token',
      channel: 'Channel',
    },
    ways: {
      id: 'its id',
      upstream_id: 'the id at the upstream',
      request_id: 'the request',
      trace_id: 'the trace',
      prefix: 'the beginning of its id',
      words: 'words of its prompt',
      hint: 'the end of its key',
    },
    unavailable: (places: string) => `Could not be searched now: ${places}.`,
  },
} as const;
