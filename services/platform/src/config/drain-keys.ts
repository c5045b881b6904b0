import { duration, section } from './settings.ts';
import type { EntryAt } from './settings.ts';

/** The key `drain` of a service, with the default of its time-out, or with the words for its absence. */
export function drainKeys<const O extends { readonly default?: string; readonly absent?: string }>(timeout: O) {
  return section(
    {
      lead: duration('how long requests are still taken after a SIGTERM; `0s`: not at all', {
        absent: '`5s`; `0s` in the one program',
      }),
      timeout: duration('how long running work can go on after that', timeout),
    },
    { default: {}, expects: 'how a stop goes, such as { lead: 5s, timeout: 90s }' },
  );
}

/** As the checked configuration has it. */
export type DrainEntry = EntryAt<ReturnType<typeof drainKeys<{ readonly absent: string }>>>;
