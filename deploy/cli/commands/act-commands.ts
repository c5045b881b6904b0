import { create } from '@bufbuild/protobuf';
import { ActSchema } from '@reelgate/proto/access/v1/act';
import type { Act } from '@reelgate/proto/access/v1/act';
import { ListActsResponseSchema } from '@reelgate/proto/tasks/v1/operator_service';
import { assertNoWords, defineCommand } from '../command.ts';
import { limitOption, readLimit } from '../format/list-options.ts';
import { WIDE_OPTION, listColumns, toListOutcome } from '../format/table.ts';
import { relativeTime } from '../format/times.ts';

const LIMIT = { most: 200, usual: 50 };

const COLUMNS = listColumns(ActSchema, [
  { field: 'id', isWide: true },
  { title: 'WHEN', of: ({ at }) => relativeTime(at) },
  { field: 'at', title: 'DONE', isWide: true },
  { field: 'actor', title: 'WHO' },
  'action',
  'subject',
  { field: 'reason', shrinks: true },
  { title: 'DETAIL', of: ({ detailJson }) => (detailJson === '{}' ? '' : detailJson), isWide: true },
]);

export const actList = defineCommand({
  summary: 'list the acts of operators, the newest first',
  words: '',
  options: {
    subject: { value: 'ID', means: 'only acts on this channel, task, job, account or token' },
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
    return toListOutcome(create(ListActsResponseSchema, { acts }), acts, COLUMNS, { terminal, options });
  },
});

/** The ids of both services are ordered by time. */
function sortNewestFirst(acts: readonly Act[]): Act[] {
  return acts.toSorted((a, b) => (a.id < b.id ? 1 : -1));
}
