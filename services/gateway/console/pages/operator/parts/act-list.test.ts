import { expect, test } from '@jest/globals';
import { listActs, mergeActs, readDetail } from './act-list.tsx';
import type { Act, ActWord } from './act-list.tsx';

const act = (id: string, action: ActWord): Act => ({
  ...{ id, action, actor: 'ada', subject: 'one', reason: '', detailJson: '' },
  at: '1970-01-01T00:00:00.005Z',
});
const tasksActs = { acts: [act('act_4', 'channel_paused'), act('act_1', 'queue_held')] };
const billingActs = { acts: [act('act_3', 'account_credited'), act('act_2', 'token_created')] };
const idsOf = (acts: readonly Act[] | undefined) => acts?.map(({ id }) => id);

test('the acts of both services are one list, the newest first', () => {
  expect(idsOf(mergeActs({ tasksActs, billingActs }))).toEqual(['act_4', 'act_3', 'act_2', 'act_1']);
});

test('a page shows the newest acts, of its own kind if it has one', () => {
  expect(idsOf(listActs({ tasksActs, billingActs }, 2))).toEqual(['act_4', 'act_3']);
  expect(idsOf(listActs({ tasksActs, billingActs }, 2, 'queue_'))).toEqual(['act_1']);
});

test.each([{ tasksActs }, { billingActs }, {}])(
  'no act is shown while those of a service cannot be read',
  (answers) => {
    expect(mergeActs(answers)).toBeUndefined();
    expect(listActs(answers, 2)).toEqual([]);
  },
);

test('an act has its details, or none', () => {
  expect(readDetail({ ...act('act_1', 'channel_tested'), detailJson: '{"ok":true}' })).toEqual({ ok: true });
  expect(readDetail(act('act_1', 'note_added'))).toEqual({});
});
