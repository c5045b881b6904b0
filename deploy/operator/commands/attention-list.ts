import type { AttentionItem } from '@reelgate/proto/tasks/v1/operator_service';
import { defineCommand, noWords } from '../command.ts';
import { WIDE_OPTION, asTable } from '../format/table.ts';
import type { Column } from '../format/table.ts';
import { stateName } from '../format/task-record.ts';
import { isoTime, relativeTime } from '../format/times.ts';

const COLUMNS: readonly Column<AttentionItem>[] = [
  { title: 'ID', of: ({ taskId }) => taskId },
  { title: 'SINCE', of: ({ since }) => relativeTime(since) },
  { title: 'SINCE AT', of: ({ since }) => isoTime(since) ?? '', isWide: true },
  { title: 'REASON', of: ({ reason }) => reason },
  { title: 'ACCOUNT', of: ({ accountId }) => accountId },
  { title: 'CHANNEL', of: ({ channel }) => channel },
  { title: 'MODEL', of: ({ model }) => model, isWide: true },
  { title: 'STATE', of: ({ state }) => stateName(state), isWide: true },
  { title: 'DETAIL', of: ({ detail }) => detail, shrinks: true },
];

export const attentionList = defineCommand({
  summary: 'list the tasks and jobs that wait for a decision',
  words: '',
  options: { wide: WIDE_OPTION },
  example: 'attention list',
  run: async ({ services, words, options, terminal }) => {
    noWords(words);
    const { items } = await services.tasks.listAttention({});
    return {
      answer: items.map(shownItem),
      text: asTable(items, COLUMNS, { terminal, isWide: options.wide }),
    };
  },
});

function shownItem({ taskId, since, reason, detail, accountId, model, channel, state }: AttentionItem): object {
  return {
    id: taskId,
    since: isoTime(since),
    reason,
    detail,
    account: accountId,
    model,
    channel: channel === '' ? undefined : channel,
    state: stateName(state),
  };
}
