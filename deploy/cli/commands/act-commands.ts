import type { Act } from '@reelgate/proto/access/v1/act';
import { assertNoWords, defineCommand } from '../command.ts';
import { limitOption, readLimit } from '../format/list-options.ts';
import { WIDE_OPTION, toListOutcome } from '../format/table.ts';
import type { Column } from '../format/table.ts';
import { isoTime, relativeTime } from '../format/times.ts';

const LIMIT = { most: 200, usual: 50 };

const COLUMNS: readonly Column<Act>[] = [
  { title: 'ID', of: ({ id }) => id, isWide: true },
  { title: 'WHEN', of: ({ at }) => relativeTime(at) },
  { title: 'AT', of: ({ at }) => isoTime(at) ?? '', isWide: true },
  { title: 'WHO', of: ({ actor }) => actor },
  { title: 'ACTION', of: ({ action }) => action },
  { title: 'SUBJECT', of: ({ subject }) => subject },
  { title: 'REASON', of: ({ reason }) => reason, shrinks: true },
  { title: 'DETAIL', of: ({ detailJson }) => (detailJson === '{}' ? '' : detailJson), isWide: true },
];

export const actList = defineCommand({
  summary: 'list what operators did, the newest first',
  words: '',
  options: {
    subject: { value: 'ID', means: 'only what was done to this channel, task, job, account or token' },
    limit: limitOption(LIMIT),
    after: { value: 'ID', means: 'continue after the act with this id, for the next page' },
    wide: WIDE_OPTION,
  },
  example: 'act list --subject sandbox',
  run: async ({ services, words, options, terminal }) => {
    assertNoWords(words);
    const { subject = '', after = '' } = options;
    const limit = readLimit(options.limit, LIMIT);
    const lists = await Promise.all(
      [services.tasks, services.accounts].map((service) => service.listActs({ subject, after, limit })),
    );
    const acts = sortNewestFirst(lists.flatMap((list) => list.acts)).slice(0, limit);
    return toListOutcome(acts, toActJson, COLUMNS, { terminal, options });
  },
});

/** The ids of both services are ordered by time. */
function sortNewestFirst(acts: readonly Act[]): readonly Act[] {
  return acts.toSorted((a, b) => (a.id < b.id ? 1 : -1));
}

function toActJson({ id, at, actor, action, subject, reason, detailJson }: Act): object {
  return { id, at: isoTime(at), actor, action, subject, reason, detail: JSON.parse(detailJson || '{}') as unknown };
}
