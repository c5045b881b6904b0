import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { NetConnectOpts } from 'node:net';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { WebSocket } from 'ws';
import { moneyAccount } from '../harness/relay-config.ts';
import { startRelayProgram } from '../harness/relay-program.ts';
import type { RelayProgram } from '../harness/relay-program.ts';
import { NEVER_SEEN, UPSTREAM_MODELS } from '../harness/relay-upstream/identities.ts';
import { SAID } from '../harness/relay-upstream/reply.ts';
import { KEYS } from '../harness/test-config.ts';
import { openaiClient } from './relay-calls/openai-calls.ts';

const START_TIMEOUT_MS = 120_000;
const ACCOUNTS = ['sdk', 'dies', 'vanishes'] as const;

let relay: RelayProgram;

beforeAll(async () => {
  relay = await startRelayProgram({ accounts: ACCOUNTS });
}, START_TIMEOUT_MS);

afterAll(async () => {
  await relay?.end();
}, START_TIMEOUT_MS);

/** The SDK's own client. It always uses TLS, so the test gives it a plain connection. */
function realtime(key: string, model = 'solo'): OpenAIRealtimeWS {
  const { hostname, port } = new URL(relay.program.base);
  const createConnection = (options: NetConnectOpts) => connect({ ...options, host: hostname, port: Number(port) });
  return new OpenAIRealtimeWS(
    { model, options: { createConnection: createConnection as never } },
    openaiClient({ base: relay.program.base, key, model }),
  );
}

const dial = (account: string): WebSocket =>
  new WebSocket(`${relay.program.base.replace('http', 'ws')}/v1/realtime?model=solo`, {
    headers: { authorization: `Bearer ${moneyAccount(account).key}` },
  });

test('the SDK holds a conversation, which is charged once at its end', async () => {
  const session = realtime(moneyAccount('sdk').key);
  const seen: object[] = [];
  session.on('event', (event) => seen.push(event));
  const done = new Promise<void>((resolve) => {
    session.on('response.done', () => resolve());
  });
  session.on('session.created', () => {
    session.send({
      type: 'session.update',
      session: { type: 'realtime', model: 'solo', instructions: 'be brief' },
    } as never);
    session.send({ type: 'response.create', response: { instructions: 'say hello' } });
  });
  await done;
  expect((await relay.money('sdk')).held).toBeGreaterThan(0n);
  session.close();

  const text = seen.flatMap((event) => ('delta' in event ? [event.delta] : [])).join('');
  expect(text).toBe(SAID);
  expect(seen[0]).toMatchObject({ type: 'session.created', session: { model: 'solo' } });
  expect(JSON.parse(relay.upstream.sessions.at(-1)!.messages[0] as string)).toMatchObject({
    session: { model: UPSTREAM_MODELS.main },
  });
  expect(NEVER_SEEN.filter((secret) => JSON.stringify(seen.slice(1)).includes(secret))).toEqual([]);
  expect(await relay.settled('sdk')).toEqual({ spent: 25_000_000n, held: 0n });
});

test.each([
  ['an unknown token', 'sk-nobody-0123456789', 'solo', '401'],
  ['a model that the token does not see', KEYS.narrow, 'twice', '404'],
  ['a model without a price', KEYS.demo, 'unpriced', '400'],
  ['an account without money', KEYS.poor, 'solo', '429'],
])('the SDK is refused before the upgrade: %s', async (_name, key, model, status) => {
  const before = relay.upstream.sessions.length;
  const session = realtime(key, model);
  const error = await new Promise<Error>((resolve) => {
    session.on('error', resolve);
  });

  expect(`${error.message} ${String(error.cause)}`).toContain(status);
  expect(relay.upstream.sessions).toHaveLength(before);
});

test.each([
  ['dies', 1011],
  ['vanishes', 1006],
] as const)('a session whose other side %s is settled by what came of it', async (account, code) => {
  const client = dial(account);
  const messages: string[] = [];
  client.on('message', (data: Buffer) => messages.push(data.toString()));
  await once(client, 'message');
  client.send(JSON.stringify({ type: 'response.create', response: { instructions: '[never-done]' } }));
  while (!messages.some((message) => message.includes('other side') || message.includes(' side.')))
    await once(client, 'message');
  const closed = once(client, 'close');
  if (account === 'dies') client.send(JSON.stringify({ type: 'test.die' }));
  else client.terminate();

  expect((await closed)[0]).toBe(code);
  const { spent, held } = await relay.settled(account);
  expect(held).toBe(0n);
  expect(spent).toBeGreaterThan(0n);
  expect(spent).toBeLessThan(500_000_000n);
});

test('a stopping program tells every session', async () => {
  const client = dial('sdk');
  await once(client, 'message');
  const closed = once(client, 'close');
  await relay.program.stop();

  expect((await closed)[0]).toBe(1012);
});
