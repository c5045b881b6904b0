import { parseDuration } from '@reelgate/platform/config/units';
import { SCHEDULE_MS_MAX } from '@reelgate/tasks/config';
import { warn, warnIf } from './finding.ts';
import type { ComparedConfig, Finding } from './finding.ts';

export function checkPollOrder({ tasks: { poll } }: ComparedConfig): readonly Finding[] {
  const ms = (name: Exclude<keyof typeof poll, 'factor'>): number => parseDuration(poll[name]) ?? 0;
  return [
    ...warnIf(
      ms('first') > ms('max'),
      ['tasks', 'poll', 'max'],
      `expected at least tasks.poll.first, ${poll.first}, which is used instead`,
    ),
    ...warnIf(
      ms('soft_deadline') > ms('hard_deadline'),
      ['tasks', 'poll', 'soft_deadline'],
      `expected at most tasks.poll.hard_deadline, ${poll.hard_deadline}; ` +
        'otherwise a task goes to the attention queue before the alert',
    ),
  ];
}

/** A task that waits for longer than its staged media are kept fails at its turn. */
export function checkQueueTimes({ tasks: { queue }, media: { staged } }: ComparedConfig): readonly Finding[] {
  const keptMs = parseDuration(staged.lifetime) ?? 0;
  return Object.entries(queue.longest_wait).flatMap(([ofClass, text]) =>
    warnIf(
      SCHEDULE_MS_MAX + (parseDuration(text) ?? 0) > keptMs,
      ['tasks', 'queue', 'longest_wait', ofClass],
      `${text} after a not-before of six days is later than media.staged.lifetime, ${staged.lifetime}; ` +
        'expected less, or a longer lifetime, because a task fails at its turn if its media are gone',
    ),
  );
}

/** An exception without a purpose lets every client reach the private address that only results need. */
export function findPlainExceptions({ media }: ComparedConfig): readonly Finding[] {
  return media.fetch.allow.flatMap((entry, at) =>
    typeof entry === 'string'
      ? [
          warn(
            ['media', 'fetch', 'allow', at],
            `clients may name media at the private address ${entry}; expected { host: "${entry}", for: results } ` +
              'if only results come from there, or for: inputs',
          ),
        ]
      : [],
  );
}
