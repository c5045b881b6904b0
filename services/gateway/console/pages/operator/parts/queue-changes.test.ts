import { expect, test } from '@jest/globals';
import { toChangeCall } from '../waiting.tsx';
import type { WantedChange } from '../waiting.tsx';

test.each<[WantedChange, string, object]>([
  [{ change: 'weight', accountId: 'acme', weight: 4 }, 'SetQueueWeight', { accountId: 'acme', weight: 4 }],
  [{ change: 'hold', model: 'fast' }, 'HoldQueue', { accountId: '', model: 'fast' }],
  [{ change: 'release', accountId: 'acme', weight: 3 }, 'ReleaseQueue', { accountId: 'acme', model: '' }],
  [{ change: 'cancel', accountId: 'acme', weight: 3 }, 'CancelQueued', { accountId: 'acme' }],
])('the change %j is a call of %s', (wanted, rpc, request) => {
  expect(toChangeCall(wanted, 'a launch')).toEqual({
    rpc: `tasks.QueueService/${rpc}`,
    request: { ...request, reason: 'a launch' },
  });
});
