import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterEach, expect, test } from '@jest/globals';
import { ActSchema } from '@reelgate/proto/access/v1/act';
import type { Act } from '@reelgate/proto/access/v1/act';
import { startOperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorUnderTest } from '../../../testing/operator-under-test.ts';

let console: OperatorUnderTest | undefined;
afterEach(async () => {
  await console?.stop();
});

const act = (id: string, action: string): Act =>
  create(ActSchema, { id, action, actor: 'ada', subject: 'one', at: timestampFromMs(5), detailJson: '{"ok":true}' });

test('the acts of both services are one list, the newest first, and a page names the next one', async () => {
  const asked: object[] = [];
  console = await startOperatorUnderTest({
    operator: {
      tasks: {
        listActs: async ({ after, subject, limit }) => {
          asked.push({ after, subject, limit });
          return {
            acts:
              after === ''
                ? Array.from({ length: limit }, (_, at) => act(`act_${900 - 2 * at}`, 'channel_paused'))
                : [],
          };
        },
      },
      accounts: {
        listActs: async () => ({ acts: [act('act_901', 'account_credited'), act('act_899', 'token_made')] }),
      },
    },
  });
  const { json } = await console.as('viewer', 'GET', '/acts?subject=one');
  expect(json.acts).toMatchObject([
    { id: 'act_901' },
    { id: 'act_900' },
    { id: 'act_899' },
    ...Array.from({ length: 47 }, (_, at) => ({ id: `act_${898 - 2 * at}` })),
  ]);
  expect(json.acts[0]).toEqual({
    id: 'act_901',
    at: 5,
    actor: 'ada',
    action: 'account_credited',
    subject: 'one',
    reason: '',
    detail: { ok: true },
  });
  const next = await console.as('viewer', 'GET', `/acts?subject=one&after=${json.after}`);
  expect(next.json.after).toBeUndefined();
  expect(asked).toEqual([
    { after: '', subject: 'one', limit: 50 },
    { after: 'act_806', subject: 'one', limit: 50 },
  ]);
});
