import { expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { contractPath, inContractTerms } from './order-fields.ts';

test.each([
  ['duration', 'order.duration'],
  ['content', 'order.content'],
  ['content[0].image_url', 'order.content[0].media.url'],
  ['content[11].video_url', 'order.content[11].media.url'],
  ['content[2].audio_url', 'order.content[2].media.url'],
  ['content[1].role', 'order.content[1].media.role'],
  ['content[0].text', 'order.content[0].text'],
  ['source_task_id', 'order.source_task_id'],
  ['order.extra_json', 'order.extra_json'],
  ['token_id', 'token_id'],
  ['webhook_url', 'webhook_url'],
])('%s is %s in the contract', (field, path) => {
  expect(contractPath(field)).toBe(path);
});

test('only the field of a refusal changes', async () => {
  const refusal = { kind: 'invalid', reason: 'invalid_duration', message: 'must be whole', retryAfterMs: 5 } as const;

  await expect(inContractTerms(Promise.reject(new Problem({ ...refusal, field: 'duration' })))).rejects.toMatchObject({
    ...refusal,
    field: 'order.duration',
  });
  await expect(inContractTerms(Promise.reject(new Error('a fault')))).rejects.toThrow('a fault');
  await expect(inContractTerms(Promise.resolve(1))).resolves.toBe(1);
});
