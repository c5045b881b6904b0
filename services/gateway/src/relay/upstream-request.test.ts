import { expect, test } from '@jest/globals';
import { relayEndpoints } from './endpoints.ts';
import { fieldsOf, formPartsOf } from './form-parts.ts';
import type { FrozenCall } from './frozen-call.ts';
import type { RelayChannel } from './relay-channels.ts';
import { upstreamRequest } from './upstream-request.ts';

const channel = { credential: { name: 'authorization', value: 'Bearer k' }, settings: { models: { same: 'same' } }, pathOf: (path: string) => path } as unknown as RelayChannel;
const form = (...models: readonly string[]): Buffer => Buffer.from(`${models.map((model) => `--b\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n`).join('')}--b--\r\n`);

function formCall(body: Buffer): FrozenCall {
  const endpoint = relayEndpoints.find(({ name }) => name === 'audio.transcriptions')!;
  const parts = formPartsOf(body, 'b')!;
  return {
    endpoint, path: endpoint.path, search: '', headers: [], body, parts, content: { path: endpoint.path, json: undefined, fields: fieldsOf(body, parts), bodyBytes: body.length },
    model: 'same', requestId: 'r', principal: { accountId: 'a', tokenId: 't', models: ['*'], expiresAt: undefined },
  };
}

test('a form that names one model, as the upstream does, goes on as it is', () => {
  expect(upstreamRequest(formCall(form('same')), channel).body.equals(form('same'))).toBe(true);
});

test('a form that names two models names the one that was looked at in both places', () => {
  expect(upstreamRequest(formCall(form('dear', 'same')), channel).body.equals(form('same', 'same'))).toBe(true);
});
