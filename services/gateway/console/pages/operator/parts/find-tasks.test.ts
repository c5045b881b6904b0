import { describe, expect, test } from '@jest/globals';
import { readIdTime } from '@reelgate/platform/ids';
import { readSearchedTo, readTaskId, toRecordsRequest } from '../tasks.tsx';

const ID = 'task_06bt1vkhnr0qm8p5m6ru5tcvl0';
const request = (query: string) => toRecordsRequest(new URLSearchParams(query));

describe('the request for a page of tasks', () => {
  test('has the filters of the address', () => {
    expect(
      request('account=demo&state=completed&kind=context_ir&model=Alpha-H3&channel=one&from=2026-01-01&to=2026-01-31'),
    ).toMatchObject({
      ...{ accountId: 'demo', state: 'TASK_STATE_COMPLETED', kind: 'TASK_KIND_CONTEXT_IR', model: 'Alpha-H3' },
      ...{ channel: 'one', createdFrom: '2026-01-01T00:00:00.000Z', createdBefore: '2026-02-01T00:00:00.000Z' },
      ...{ brief: true, inSteps: true },
    });
  });

  test('is for every task without filters', () => {
    expect(request('')).toMatchObject({
      accountId: '',
      state: 'TASK_STATE_UNSPECIFIED',
      kind: 'TASK_KIND_UNSPECIFIED',
    });
  });
});

test('what looks like a task id is searched as one, and everything else is an upstream id', () => {
  expect(readTaskId(new URLSearchParams({ find: ID }))).toBe(ID);
  expect(readTaskId(new URLSearchParams('find=up-77'))).toBeUndefined();
  expect(request('find=up-77&account=demo')).toEqual({ limit: 50, brief: true, inSteps: true, upstreamId: 'up-77' });
});

test('a page that is not full says how far back it has searched', () => {
  expect(readSearchedTo({ records: [], charges: [], continueAfter: ID })).toBe(readIdTime(ID));
  expect(readSearchedTo({ records: [], charges: [], continueAfter: '' })).toBeUndefined();
});
