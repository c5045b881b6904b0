import { expect, test } from '@jest/globals';
import { NEW_TOKEN, readNewToken } from './make-token-dialog.tsx';
import { toLimitTexts } from './limit-fields.tsx';

const limits = toLimitTexts({});

test('a form becomes the token that it describes', () => {
  const form = {
    ...NEW_TOKEN,
    name: ' batch ',
    models: 'Alpha-H3\n Beta-V1, Alpha-H3\n',
    expires: '2026-12-31',
    limits: { ...limits, limit: '12.50', inFlight: '5' },
  };

  expect(readNewToken(form)).toEqual({
    token: {
      name: 'batch',
      models: ['Alpha-H3', 'Beta-V1'],
      limitNanos: '12500000000',
      limits: { inFlight: 5 },
      expiresAt: '2026-12-31T23:59:59.999Z',
      webhooks: 'WEBHOOK_RIGHT_WRITE',
      tokens: 'TOKEN_RIGHT_NONE',
      queue: { wait: 'TOKEN_WAIT_CHANNELS', class: 'TOKEN_CLASS_STANDARD' },
    },
    faults: {},
  });
});

test.each([
  ['a name', { name: '' }],
  ['a model', { name: 'batch', models: ' , ' }],
])('without %s there is no token yet', (_what, changes) => {
  expect(readNewToken({ ...NEW_TOKEN, ...changes }).token).toBeUndefined();
});

test.each([
  ['limit', '0'],
  ['limit', '-5'],
  ['limit', '1,50'],
  ['limit', '0.0000000001'],
  ['inFlight', '0'],
  ['createsPerMinute', '2.5'],
  ['readsPerMinute', 'many'],
] as const)('%s of %j is a fault at its field', (name, text) => {
  const { token, faults } = readNewToken({ ...NEW_TOKEN, name: 'batch', limits: { ...limits, [name]: text } });

  expect(Object.keys(faults)).toEqual([name]);
  expect(token).toBeUndefined();
});
