import type { Act } from '@reelgate/proto/access/v1/act';
import { WrongCall, defineCommand, assertNoWords } from '../command.ts';
import { WIDE_OPTION, asTable } from '../format/table.ts';
import type { Column } from '../format/table.ts';
import { isoTime, relativeTime } from '../format/times.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;

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
    limit: { value: 'N', means: `at most N, 1 to ${LIMIT_MAX}; default: ${LIMIT_DEFAULT}` },
    after: { value: 'ID', means: 'continue after the act with this id, for the next page' },
    wide: WIDE_OPTION,
  },
  example: 'act list --subject sandbox',
  run: async ({ services, words, options, terminal }) => {
    assertNoWords(words);
    const { subject = '', after = '' } = options;
    const limit = readLimit(options.limit);
    const lists = await Promise.all(
      [services.tasks, services.accounts].map((service) => service.listActs({ subject, after, limit })),
    );
    const acts = newest(
      lists.flatMap((list) => list.acts),
      limit,
    );
    return {
      answer: acts.map(toActJson),
      text: asTable(acts, COLUMNS, { terminal, isWide: options.wide }),
    };
  },
});

/** The ids of both services are ordered by time. */
function newest(acts: readonly Act[], limit: number): readonly Act[] {
  return acts.toSorted((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit);
}

function readLimit(text = String(LIMIT_DEFAULT)): number {
  if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= LIMIT_MAX) return Number(text);
  throw new WrongCall(`--limit takes a whole number from 1 to ${LIMIT_MAX}, not ${text}`);
}

function toActJson({ id, at, actor, action, subject, reason, detailJson }: Act): object {
  return { id, at: isoTime(at), actor, action, subject, reason, detail: JSON.parse(detailJson || '{}') as unknown };
}
