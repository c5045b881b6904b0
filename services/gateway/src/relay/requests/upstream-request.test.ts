import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { aRelayChannel } from '../../../testing/a-relay-channel.ts';
import { formBody } from '../../../testing/multipart-form.ts';
import { relayChannelSettings } from '../channels/relay-channel-config.ts';
import { cacheIdentities } from '../channels/relay-channels.ts';
import { relayEndpoints } from '../endpoints.ts';
import { readTextFields, parseFormParts } from './form-parts.ts';
import type { RelayCall } from './relay-call.ts';
import type { JsonObject } from '../protocols/protocol.ts';
import type { RelayChannel } from '../channels/relay-channels.ts';
import { buildUpstreamRequest } from './upstream-request.ts';

const settings = relayChannelSettings(
  aRelayChannel({ base_url: 'http://127.0.0.1:1', api_key: 'k', models: { same: 'same', mine: 'theirs' } }),
);
const channel = {
  credential: { name: 'authorization', value: 'Bearer k' },
  toUpstreamPath: (path: string) => path,
  findIdentities: cacheIdentities(settings),
} as unknown as RelayChannel;
const form = (...models: readonly string[]): Buffer =>
  formBody(
    'b',
    models.map((content) => ({ name: 'model', content })),
  );

function formCall(body: Buffer): RelayCall {
  const endpoint = relayEndpoints.find(({ name }) => name === 'audio.transcriptions')!;
  const parts = parseFormParts(body, 'b')!;
  return {
    endpoint,
    path: endpoint.path,
    search: '',
    headers: [],
    body,
    parts,
    content: { path: endpoint.path, json: undefined, fields: readTextFields(body, parts), bodyBytes: body.length },
    model: 'same',
    requestId: 'r',
    principal: {
      accountId: 'a',
      tokenId: 't',
      models: ['*'],
      expiresAt: undefined,
      webhooks: 'write',
      tokenName: 'ci',
      tokens: 'none',
    },
  };
}

test("a form that already names the upstream's model passes unchanged", () => {
  expect(buildUpstreamRequest(formCall(form('same')), channel).body.equals(form('same'))).toBe(true);
});

test('a form that names two models gets the checked model in both fields', () => {
  expect(buildUpstreamRequest(formCall(form('dear', 'same')), channel).body.equals(form('same', 'same'))).toBe(true);
});

describe("a JSON body names the upstream's model, and no other byte changes", () => {
  const chat = relayEndpoints.find(({ name }) => name === 'chat')!;
  const sent = (text: string, model: string): string => {
    const body = Buffer.from(text);
    const json = JSON.parse(text) as JsonObject;
    return buildUpstreamRequest(
      {
        endpoint: chat,
        path: chat.path,
        search: '',
        headers: [],
        body,
        parts: undefined,
        content: { path: chat.path, json, fields: new Map(), bodyBytes: body.length },
        model,
        requestId: 'r',
        principal: {
          accountId: 'a',
          tokenId: 't',
          models: ['*'],
          expiresAt: undefined,
          webhooks: 'write',
          tokenName: 'ci',
          tokens: 'none',
        },
      },
      channel,
    ).body.toString();
  };

  test.each([
    ['{"model":"mine","messages":[]}', '{"model":"theirs","messages":[]}'],
    ['{ "messages" : [] , "model" :\n "mine" }', '{ "messages" : [] , "model" :\n "theirs" }'],
    [
      '{"messages":[{"content":"a \\"model\\": \\"mine\\""}],"model":"mine"}',
      '{"messages":[{"content":"a \\"model\\": \\"mine\\""}],"model":"theirs"}',
    ],
    ['{"metadata":{"model":"inner"},"model":"mine"}', '{"metadata":{"model":"inner"},"model":"theirs"}'],
    ['{"kind":"model","model":"mine"}', '{"kind":"model","model":"theirs"}'],
    ['{"kind":"model","mod\\u0065l":"mine"}', '{"kind":"model","mod\\u0065l":"theirs"}'],
    ['{"model":"dear","model":"mine"}', '{"model":"theirs","model":"theirs"}'],
    ['{"model":"mi\\u006ee"}', '{"model":"theirs"}'],
  ])('%s', (before, after) => {
    expect(sent(before, 'mine')).toBe(after);
  });

  test('whatever else it contains', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.oneof(fc.constantFrom('mode', '"model"', 'model\\'), fc.string()),
          fc.jsonValue({ maxDepth: 3 }),
        ),
        fc.constantFrom(undefined, 1, '\t'),
        (others, spacing) => {
          const text = JSON.stringify({ ...others, model: 'mine' }, undefined, spacing);

          expect(JSON.parse(sent(text, 'mine'))).toEqual({ ...(JSON.parse(text) as object), model: 'theirs' });
        },
      ),
    );
  });

  test('and a body that already names it passes unchanged', () => {
    expect(sent('{ "model": "same" }', 'same')).toBe('{ "model": "same" }');
  });
});
