import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { CheckedRelayChannel } from '../channels/relay-channel-config.ts';
import { aRelayChannel } from '../../../testing/a-relay-channel.ts';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';
import { startKeepingUpstream } from '../../../testing/keeping-upstream.ts';
import type { KeepingUpstream } from '../../../testing/keeping-upstream.ts';
import type { Reply } from '../../../testing/scripted-relay-upstream.ts';

type Json = Readonly<Record<string, ReturnType<typeof JSON.parse>>>;

const OTHER = 'rg_other';
const SIGNED = /_st_[\w-]{24}$/;
let upstreams: readonly KeepingUpstream[];
let gateway: GatewayUnderTest;
let channels: readonly CheckedRelayChannel[];

/** Lets the upstreams answer otherwise until the test ends. */
function replyAll(reply: Reply): void {
  for (const upstream of upstreams) upstream.reply = reply;
}

beforeAll(async () => {
  upstreams = [await startKeepingUpstream(), await startKeepingUpstream()];
  channels = upstreams.map(({ url }, at) =>
    aRelayChannel({ id: `channel-${at}`, base_url: url, api_key: `key-of-${at}` }),
  );
  gateway = await startGatewayUnderTest({ channels });
});
beforeEach(async () => {
  // closes a circuit that a test has opened
  await gateway.clock.advance(60_000);
  for (const upstream of upstreams) {
    upstream.seen.length = 0;
    upstream.reply = upstream.keepingReply;
  }
  for (const list of [gateway.calls.placed, gateway.calls.settled]) list.length = 0;
  gateway.billing.tokens.set(OTHER, { tokenId: 'other', accountId: 'other' });
});
afterAll(async () => {
  await gateway.stop();
  for (const upstream of upstreams) await upstream.stop();
});

const RESPONSES = '/v1/responses';
const MESSAGES = '/v1/messages';
const CHAT = '/v1/chat/completions';
const BASE: Readonly<Record<string, Json>> = {
  [RESPONSES]: { model: 'some-model', input: 'x', max_output_tokens: 9 },
  [MESSAGES]: { model: 'some-model', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] },
  [CHAT]: { model: 'some-model', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] },
};
const post = (path: string, body: Json, { token, by = gateway }: { token?: string; by?: GatewayUnderTest } = {}) =>
  call(by.url, 'POST', path, { body: { ...BASE[path], ...body }, ...(token === undefined ? {} : { token }) });

/** The whole answer that a stream has at its end. */
const READ_STREAM: Readonly<Record<string, (events: readonly Json[]) => Json>> = {
  [RESPONSES]: (events) => events.at(-1)!['response'] as Json,
  [MESSAGES]: (events) => ({
    ...(events[0]!['message'] as Json),
    container: events.find(({ type }) => type === 'message_delta')!['delta'].container,
    content: [events.find(({ type }) => type === 'content_block_start')!['content_block']],
  }),
  [CHAT]: (events) => ({ choices: [{ message: events[0]!['choices'][0].delta }] }),
};
const readEvents = (text: string): Json[] =>
  [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!) as Json);

async function ask(path: string, body: Json, isStream = false, more: { token?: string; by?: GatewayUnderTest } = {}) {
  const answer = await post(path, isStream ? { ...body, stream: true } : body, more);
  const isRead = isStream && answer.status === 200;
  return { ...answer, made: (isRead ? READ_STREAM[path]!(readEvents(answer.text)) : answer.json) as Json };
}

const of = (answer: Json, type: string): Json => (answer['output'] as Json[]).find((item) => item['type'] === type)!;
const input = (...items: readonly Json[]): Json => ({ input: [...items, { role: 'user', content: 'y' }] });

interface Kind {
  readonly path: string;
  /** The second request of a chain, with the id of the first answer. */
  readonly next: (first: Json) => Json;
  readonly code: string;
  readonly param: string;
}

const KINDS: Readonly<Record<string, Kind>> = {
  previous_response_id: {
    path: RESPONSES,
    next: ({ id }) => ({ previous_response_id: id }),
    code: 'previous_response_not_found',
    param: 'previous_response_id',
  },
  'conversation as a text': {
    path: RESPONSES,
    next: ({ conversation }) => ({ conversation: conversation.id }),
    code: 'reference_not_found',
    param: 'conversation',
  },
  'conversation as an object': {
    path: RESPONSES,
    next: ({ conversation }) => ({ conversation }),
    code: 'reference_not_found',
    param: 'conversation.id',
  },
  'a reference to an item': {
    path: RESPONSES,
    next: (first) => input({ type: 'item_reference', id: of(first, 'message')['id'] }),
    code: 'reference_not_found',
    param: 'input[0].id',
  },
  'a reasoning item without its content': {
    path: RESPONSES,
    next: (first) => input({ type: 'reasoning', id: of(first, 'reasoning')['id'], summary: [] }),
    code: 'reference_not_found',
    param: 'input[0].id',
  },
  'encrypted content': {
    path: RESPONSES,
    next: (first) =>
      input({ type: 'reasoning', summary: [], encrypted_content: of(first, 'reasoning')['encrypted_content'] }),
    code: 'invalid_encrypted_content',
    param: 'input[0].encrypted_content',
  },
  'the container of a code interpreter': {
    path: RESPONSES,
    next: (first) => ({
      tools: [{ type: 'code_interpreter', container: of(first, 'code_interpreter_call')['container_id'] }],
    }),
    code: 'reference_not_found',
    param: 'tools[0].container',
  },
  'a sound of a chat': {
    path: CHAT,
    next: ({ choices }) => ({
      messages: [{ role: 'assistant', audio: { id: choices[0].message.audio.id } }],
    }),
    code: 'reference_not_found',
    param: 'messages[0].audio.id',
  },
  'the container of a message': {
    path: MESSAGES,
    next: ({ container }) => ({ container: container.id }),
    code: '',
    param: 'container',
  },
  'the container of a message as an object': {
    path: MESSAGES,
    next: ({ container }) => ({ container: { id: container.id } }),
    code: '',
    param: 'container.id',
  },
  'a thread of messages': {
    path: MESSAGES,
    next: ({ id }) => ({ thread: { type: 'continue', previous_message_id: id } }),
    code: '',
    param: 'thread.previous_message_id',
  },
  'a file of a message': {
    path: MESSAGES,
    next: ({ content }) => ({
      messages: [
        { role: 'user', content: [{ type: 'container_upload', file_id: content[0].content.content[0].file_id }] },
      ],
    }),
    code: '',
    param: 'messages[0].content[0].file_id',
  },
};
const rows = Object.entries(KINDS).flatMap(([name, kind]) => [
  [name, 'whole', kind] as const,
  [name, 'stream', kind] as const,
]);
const UNKNOWN = /is not known here/;

describe('an id leads back to the account of the upstream that has given it', () => {
  test.each(rows)('%s, %s', async (_name, how, { path, next }) => {
    const isStream = how === 'stream';
    const chains = Array.from({ length: 20 }, async () => {
      const first = await ask(path, {}, isStream);
      const second = await ask(path, next(first.made), isStream);
      return [first.status, second.status];
    });

    expect(await Promise.all(chains)).toEqual(chains.map(() => [200, 200]));
    expect(upstreams.map(({ seen }) => seen.length > 0)).toEqual([true, true]);
    // the upstream meets its own ids
    expect(upstreams.flatMap(({ seen }) => seen).filter(({ body }) => body.includes('_st_'))).toEqual([]);
  });
});

describe('an id that the gateway has not signed for the account is unknown: nothing is held, nothing is sent', () => {
  test.each(rows)('%s, %s', async (_name, how, { path, next, code, param }) => {
    const { made } = await ask(path, {});
    const unsigned = JSON.parse(JSON.stringify(made).replaceAll(/_st_[\w-]{24}/g, '')) as Json;
    const forged = JSON.parse(
      JSON.stringify(made).replaceAll(/_st_([\w-]{23})([\w-])/g, (_, most: string, last: string) =>
        last === 'A' ? `_st_${most}B` : `_st_${most}A`,
      ),
    ) as Json;
    for (const { seen } of upstreams) seen.length = 0;
    gateway.calls.placed.length = 0;
    const isStream = how === 'stream';
    const answers = [
      await ask(path, next(made), isStream, { token: OTHER }),
      await ask(path, next(unsigned), isStream),
      await ask(path, next(unsigned), isStream, { token: OTHER }),
      await ask(path, next(forged), isStream),
    ];

    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
    for (const { json } of answers) {
      expect(json.error.message).toMatch(UNKNOWN);
      expect(json.error.message).toContain(param);
      if (code !== '') expect([json.error.code, json.error.param]).toEqual([code, param]);
    }
    expect(new Set(answers.map(({ json }) => json.error.message as string)).size).toBe(1);
    expect([gateway.calls.placed, upstreams.flatMap(({ seen }) => seen)]).toEqual([[], []]);
    // the owner still can
    expect((await ask(path, next(made), isStream)).status).toBe(200);
  });
  test.each([
    [
      'a body that names it twice',
      (id: string, raw: string) => `"previous_response_id":"${raw}","previous_response_id":"${id}"`,
    ],
    ['another case', (_id: string, raw: string) => `"Previous_Response_ID":"${raw}"`],
    ['camel case', (_id: string, raw: string) => `"previousResponseId":"${raw}"`],
    ['an escaped name', (_id: string, raw: string) => `"previous\\u005fresponse_id":"${raw}"`],
    ['a list', (_id: string, raw: string) => `"previous_response_id":["${raw}"]`],
    ['an item without a type', (_id: string, raw: string) => `"input":[{"id":"${raw}"}]`],
    [
      'an item of two types',
      (_id: string, raw: string) => `"input":[{"type":"item_reference","id":"${raw}","type":"message","role":"user"}]`,
    ],
    [
      'a list of the items twice',
      (_id: string, raw: string) => `"input":[{"type":"item_reference","id":"${raw}"}],"input":[]`,
    ],
    ['an id of another kind', (id: string) => `"input":[{"type":"item_reference","id":"${id}"}]`],
  ])('whatever the form: %s', async (_name, write) => {
    const { made } = await ask(RESPONSES, {});
    const { id } = made as { id: string };
    gateway.calls.placed.length = 0;
    const body = `{"model":"some-model",${write(id, id.replace(SIGNED, ''))}}`;
    const { status } = await call(gateway.url, 'POST', RESPONSES, { body });

    expect([status, gateway.calls.placed]).toEqual([400, []]);
  });
  test('an id that a client has put into its metadata is not signed', async () => {
    const raw = `resp_${'a'.repeat(48)}`;
    const metadata = { id: raw, item_id: raw, previous_response_id: raw };
    for (const isStream of [false, true])
      expect((await ask(RESPONSES, { metadata }, isStream)).made['metadata']).toEqual(metadata);
  });
});

describe('every id of an answer is signed, the same in each event', () => {
  const ids = (value: unknown): string[] => {
    const found =
      JSON.stringify(value).match(/"(resp|rs|msg|ci|cntr|conv|cfile|gAAAA|container|file|audio)_[\da-f]{40}[^"]+"/g) ??
      [];
    return [...new Set(found.map((quoted) => quoted.slice(1, -1)))].toSorted();
  };
  test.each([RESPONSES, MESSAGES, CHAT])('%s', async (path) => {
    const whole = await ask(path, {});
    const { text } = await ask(path, {}, true);

    expect(ids(whole.json).filter((id) => !SIGNED.test(id))).toEqual([]);
    expect(ids(readEvents(text)).filter((id) => !SIGNED.test(id))).toEqual([]);
    expect(ids(readEvents(text)).length).toBe(ids(whole.json).length);
  });
  test('also of data in several lines, and of an answer that is too long to be held', async () => {
    const long = 'x'.repeat(3 * 1024 * 1024);
    const response = {
      id: 'resp_1',
      status: 'completed',
      output: [{ type: 'message', id: 'msg_1', content: [{ text: long }] }],
    };
    const replies = [
      JSON.stringify({ ...response, usage: { input_tokens: 1, output_tokens: 1 } }),
      `data: {"type":"response.created",\ndata: "response":{"id":"resp_1"}}\n\ndata: ${JSON.stringify({ type: 'response.completed', response })}\n\n`,
    ];
    for (const reply of replies) {
      const type = reply.startsWith('data') ? 'text/event-stream' : 'application/json';
      replyAll((_request, answer) => void answer.writeHead(200, { 'content-type': type }).end(reply));
      const { status, text } = await post(RESPONSES, type === 'application/json' ? {} : { stream: true });

      expect(status).toBe(200);
      expect(text.match(/"(resp|msg)_1[^"]*"/g)!.length).toBe(type === 'application/json' ? 2 : 3);
      expect(text).not.toMatch(/"(resp|msg)_1"/);
      expect(text.length).toBeGreaterThan(long.length);
    }
  });
});

describe('a conversation that is sent again', () => {
  const again = (first: Json): Json => input(of(first, 'message'));

  test('goes to any channel, with its ids as the upstream knows them', async () => {
    const { made } = await ask(RESPONSES, {});
    for (const { seen } of upstreams) seen.length = 0;
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(RESPONSES, again(made))));
    const sent = upstreams.map(({ seen }) => seen.map(({ body }) => JSON.parse(body.toString()) as Json));

    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(sent.map((bodies) => bodies.length > 0)).toEqual([true, true]);
    const ids = new Set(sent.flat().map((body) => (body['input'] as Json[])[0]!['id'] as string));
    expect([...ids]).toEqual([(of(made, 'message')['id'] as string).replace(SIGNED, '')]);
  });
  test('is refused with the ids of another account', async () => {
    const { made } = await ask(RESPONSES, {});
    expect((await ask(RESPONSES, again(made), false, { token: OTHER })).json.error.code).toBe('reference_not_found');
  });
  test('passes with ids that the client has made', async () => {
    expect(
      (await ask(RESPONSES, input({ type: 'message', id: 'msg_mine', role: 'assistant', content: [] }))).status,
    ).toBe(200);
  });
});

describe('the upstream that has given an id', () => {
  test('is the only one that is tried, and the client learns which id keeps the others away', async () => {
    const made = await Promise.all(Array.from({ length: 12 }, () => ask(RESPONSES, {})));
    const [first] = upstreams;
    first!.reply = (_request, response) => void response.writeHead(500).end('{"error":{"message":"down"}}');
    for (const { seen } of upstreams) seen.length = 0;
    const answers = await Promise.all(made.map(({ made: { id } }) => ask(RESPONSES, { previous_response_id: id })));
    const failed = answers.filter(({ status }) => status !== 200);

    expect(failed.length).toBeGreaterThan(0);
    expect(failed.length + upstreams[1]!.seen.length).toBe(12);
    const { status, json } = answers.filter(({ status: code }) => code === 503)[0] ?? failed[0]!;
    if (status === 503) expect(json.error.message).toMatch(/previous_response_id belongs to cannot be reached now/);
  });
  test('is named as gone if no channel has it any more', async () => {
    const { made } = await ask(RESPONSES, {});
    const gone = await startGatewayUnderTest({ channels: [{ ...channels[0]!, id: 'another' }] });
    const answer = await ask(RESPONSES, { previous_response_id: made['id'] }, false, { by: gone });
    await gone.stop();

    expect([answer.status, answer.json.error.code]).toEqual([400, 'previous_response_not_found']);
    expect(answer.json.error.message).toMatch(/belongs to an upstream that does not serve this model now/);
  });
  test('two of them cannot take one request', async () => {
    const ids = new Set<string>();
    for (let at = 0; at < 20; at += 1) {
      const { made } = await ask(RESPONSES, {});
      const upstream = upstreams.findIndex(({ kept }) => kept.has((made['id'] as string).replace(SIGNED, '')));
      ids.add(JSON.stringify([upstream, made['id'], of(made, 'message')['id']]));
    }
    const [a, b] = [0, 1].map(
      (upstream) => JSON.parse([...ids].find((one) => one.startsWith(`[${upstream}`))!) as string[],
    );
    const { status, json } = await ask(RESPONSES, {
      previous_response_id: a![1],
      ...input({ type: 'item_reference', id: b![2] }),
    });

    expect([status, json.error.message]).toEqual([400, expect.stringMatching(/belongs to another upstream than/)]);
  });
});

test('another gateway with the same signing key, or the next one after a restart, reads the ids', async () => {
  const next = await startGatewayUnderTest({ channels });
  const made = await Promise.all(Array.from({ length: 10 }, () => ask(RESPONSES, {})));
  const answers = await Promise.all(
    made.map(({ made: { id } }) => ask(RESPONSES, { previous_response_id: id }, false, { by: next })),
  );
  await next.stop();

  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});

test('channels with one upstream account know each other’s ids', async () => {
  const [first] = upstreams;
  const shared = await startGatewayUnderTest({
    channels: ['a', 'b'].map((id) => aRelayChannel({ id, base_url: first!.url, upstream_account: 'one' })),
  });
  const { made } = await ask(RESPONSES, {}, false, { by: shared });
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => ask(RESPONSES, { previous_response_id: made['id'] }, false, { by: shared })),
  );
  await shared.stop();

  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});

describe('what the operator keeps at an upstream', () => {
  const NAMED: readonly (readonly [string, string, Json, string])[] = [
    [
      'a file',
      RESPONSES,
      input({ role: 'user', content: [{ type: 'input_file', file_id: 'kept-1' }] }),
      'input[0].content[0].file_id',
    ],
    [
      'a store',
      RESPONSES,
      { tools: [{ type: 'file_search', vector_store_ids: ['kept-1'] }] },
      'tools[0].vector_store_ids[0]',
    ],
    ['a prompt', RESPONSES, { prompt: { id: 'kept-1' } }, 'prompt.id'],
    ['a conversation', RESPONSES, { conversation: 'kept-1' }, 'conversation'],
    [
      'a file of a chat',
      CHAT,
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'kept-1' } }] }] },
      'messages[0].content[0].file.file_id',
    ],
    [
      'a file of a message',
      MESSAGES,
      { messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'kept-1' } }] }] },
      'messages[0].content[0].source.file_id',
    ],
  ];
  test.each(NAMED)('%s: is refused by name', async (_name, path, body, param) => {
    const { status, json } = await ask(path, body);

    expect([status, gateway.calls.placed]).toEqual([400, []]);
    expect(json.error.message).toContain(`${param} is not known here`);
  });
  test.each(NAMED)(
    '%s: passes to the channel that is open to the account, and for no other account',
    async (_name, path, body) => {
      upstreams[1]!.keep('kept-1');
      const open = await startGatewayUnderTest({ channels: [channels[0]!, { ...channels[1]!, open_to: ['demo'] }] });
      open.billing.tokens.set(OTHER, { tokenId: 'other', accountId: 'other' });
      const answers = await Promise.all(Array.from({ length: 10 }, () => ask(path, body, false, { by: open })));
      const other = await ask(path, body, false, { by: open, token: OTHER });
      await open.stop();

      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      expect(other.status).toBe(400);
    },
  );
  test.each<[string, Json, boolean]>([
    ['a cache', { cachedContent: 'cachedContents/1' }, false],
    ['a cache, in the other spelling', { cached_content: 'cachedContents/1' }, false],
    [
      'a file',
      {
        contents: [{ parts: [{ fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/a' } }] }],
      },
      false,
    ],
    ['a file of a bucket', { contents: [{ parts: [{ file_data: { file_uri: 'gs://bucket/a.png' } }] }] }, false],
    [
      'an address of anybody',
      { contents: [{ parts: [{ fileData: { fileUri: 'https://a.example/files/a.png' } }] }] },
      true,
    ],
    ['a signature of thoughts', { contents: [{ parts: [{ text: 'x', thoughtSignature: 'c2ln' }] }] }, true],
  ])('of Google: %s', async (_name, body, passes) => {
    const made = '{"candidates":[{"content":{"parts":[{"text":"made"}]},"finishReason":"STOP"}]}';
    replyAll((_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(made));
    const answer = await call(gateway.url, 'POST', '/v1beta/models/some-model:generateContent', { body });

    expect(answer.status).toBe(passes ? 200 : 400);
    if (!passes)
      expect(answer.json.error).toMatchObject({ status: 'INVALID_ARGUMENT', message: expect.stringMatching(UNKNOWN) });
  });
});

describe('work in the background', () => {
  test.each(['true', '1', '"true"', '{}'])('is refused before money is held: %s', async (value) => {
    const body = `{"model":"some-model","input":"x","background":${value}}`;
    const { status, json } = await call(gateway.url, 'POST', RESPONSES, { body });

    expect([status, json.error.param, gateway.calls.placed]).toEqual([400, 'background', []]);
    expect(json.error.message).toContain('/async/v1/responses');
  });
  test('is refused behind /async too, and no job is created', async () => {
    const body = { ...BASE[RESPONSES], background: true };
    const { status, json } = await call(gateway.url, 'POST', `/async${RESPONSES}`, { body });

    expect([status, json.error.param, gateway.calls.placed]).toEqual([400, 'background', []]);
  });
  test.each(['false', 'null'])('is not wanted by %s', async (value) => {
    const body = `{"model":"some-model","input":"x","background":${value}}`;
    expect((await call(gateway.url, 'POST', RESPONSES, { body })).status).toBe(200);
  });
});

test('a refusal quotes an id as the client has sent it, and no other id of the upstream', async () => {
  const { made } = await ask(RESPONSES, {});
  const raw = (made['id'] as string).replace(SIGNED, '');
  for (const { kept } of upstreams) (kept as Set<string>).delete(raw);
  for (const isStream of [false, true]) {
    const { status, json } = await ask(RESPONSES, { previous_response_id: made['id'] }, isStream);

    expect([status, json.error.message]).toEqual([400, `'${made['id'] as string}' was not found; *** neither`]);
  }
});
