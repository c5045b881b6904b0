import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { Resolution } from '@reelgate/proto/tasks/v1/operator_service';
import { startOperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorUnderTest } from '../../../testing/operator-under-test.ts';

let console: OperatorUnderTest;
afterEach(() => console.stop());

test('a decision carries the name of the operator and the reason', async () => {
  const decided: object[] = [];
  console = await startOperatorUnderTest({
    operator: {
      tasks: {
        resolveAttention: async ({ taskId, resolution, actor, reason }) => {
          decided.push({ taskId, resolution, actor, reason });
          return {};
        },
      },
    },
  });
  const body = { resolution: 'failed', reason: 'the vendor lost it' };
  const refused = await console.as('viewer', 'POST', '/attention/task_1', body);
  const answer = await console.as('treasurer', 'POST', '/attention/task_1', body);
  expect([refused.status, answer.status]).toEqual([403, 200]);
  expect(answer.json).toMatchObject({ resolution: 'failed', at: expect.any(Number) });
  expect(decided).toEqual([
    { taskId: 'task_1', resolution: Resolution.FAILED, actor: 'treasurer', reason: 'the vendor lost it' },
  ]);
});

describe('a decision', () => {
  const BODY = { resolution: 'completed', reason: 'the video is as long as that' };
  const decidedBy = (actor: string, reason: string = BODY.reason, resolution = BODY.resolution) => ({
    id: 'act_1',
    at: timestampFromMs(77),
    ...{ actor, action: 'attention_resolved', subject: 'task_1', reason, detailJson: JSON.stringify({ resolution }) },
  });
  const charge = { taskId: 'task_1', heldNanos: 320_000_000n, currency: 'USD' };
  const decide = async (
    charges: object[],
    acts?: ReturnType<typeof decidedBy>[],
  ): Promise<{ status: number; json: ReturnType<typeof JSON.parse> }> => {
    const refusal = new Problem({ kind: 'conflict', reason: 'not_in_attention', message: 'it does not wait' });
    console = await startOperatorUnderTest({
      operator: {
        tasks: {
          resolveAttention: async () => {
            if (acts !== undefined) throw refusal;
            return {};
          },
          listActs: async () => ({ acts: acts ?? [] }),
        },
        billing: { listCharges: async () => ({ charges }) },
      },
    });
    return console.as('operator', 'POST', '/attention/task_1', BODY);
  };

  test('answers the money after it, as JSON of the contract', async () => {
    const { status, json } = await decide([{ ...charge, chargedNanos: 120_000_000n, basis: Basis.USAGE }]);

    expect([status, json.charge]).toMatchObject([
      200,
      { heldNanos: '320000000', chargedNanos: '120000000', currency: 'USD', basis: 'BASIS_USAGE' },
    ]);
  });

  test('whose answer was lost is answered again, with the time of the first one', async () => {
    const { status, json } = await decide(
      [{ ...charge, chargedNanos: 0n, basis: Basis.RELEASED }],
      [decidedBy('operator')],
    );

    expect([status, json]).toMatchObject([
      200,
      { resolution: 'completed', at: 77, charge: { chargedNanos: '0', basis: 'BASIS_RELEASED' } },
    ]);
  });

  test.each([
    ['another person made', [decidedBy('ann')], 'ann has decided it as completed: the video is as long as that'],
    ['the visitor made otherwise', [decidedBy('operator', BODY.reason, 'failed')], 'operator has decided it as failed'],
    ['the visitor made for another reason', [decidedBy('operator', 'no')], 'operator has decided it as completed: no'],
    ['nobody made', [], 'it does not wait'],
  ])('over what does not wait, because of one that %s, is refused and says so', async (_what, acts, message) => {
    const { status, json } = await decide([], acts);

    expect([status, json.error.code]).toEqual([409, 'not_in_attention']);
    expect(json.error.message).toContain(message);
  });
});
