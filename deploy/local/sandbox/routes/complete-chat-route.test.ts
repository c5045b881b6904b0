import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { wordMs } from '../limits.ts';
import { runningSandbox, type RunningSandbox } from '../testing/running-sandbox.ts';

let sandbox: RunningSandbox;
beforeEach(async () => {
  sandbox = await runningSandbox();
});
afterEach(() => sandbox.stop());

const path = '/v1/chat/completions';
const aChat = (over: object = {}): object => ({
  model: 'echo-1',
  messages: [
    { role: 'system', content: 'be brief' },
    { role: 'user', content: 'hello there' },
  ],
  ...over,
});
const said = 'This is the sandbox, and you said: "hello there". A model would have more to say.';

/** Posts, and moves the clock until the answer is whole. */
async function spoken(body: object): Promise<readonly string[]> {
  let text: string | undefined;
  const reply = sandbox.call('POST', path, body).then((whole) => {
    text = whole.text;
  });
  while (text === undefined) {
    sandbox.clock.advance(wordMs);
    await new Promise((resolve) => void setImmediate(resolve));
  }
  await reply;
  return text.split('\n\n');
}

test('a chat answer echoes the prompt, with its usage', async () => {
  const { status, body } = await sandbox.call('POST', path, aChat());

  expect(status).toBe(200);
  expect(body).toMatchObject({
    object: 'chat.completion',
    model: 'echo-1',
    choices: [{ index: 0, message: { role: 'assistant', content: said }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 4, completion_tokens: 16, total_tokens: 20 },
  });
});

test('a chat answer ends at its limit of tokens', async () => {
  expect((await sandbox.call('POST', path, aChat({ max_tokens: 2 }))).body).toMatchObject({
    choices: [{ message: { content: 'This is ' }, finish_reason: 'length' }],
    usage: { completion_tokens: 2 },
  });
});

test('a stream has a word in each event, the finish reason at the end, and usage only on request', async () => {
  const events = await spoken(aChat({ stream: true }));
  const data = events.slice(0, -2).map(
    (event) =>
      JSON.parse(event.slice('data: '.length)) as {
        choices: { delta: { content?: string }; finish_reason: string | null }[];
      },
  );

  expect(data.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(said);
  expect(data.at(-1)?.choices[0]?.finish_reason).toBe('stop');
  expect(events.slice(-2)).toEqual(['data: [DONE]', '']);
  expect(events.join('')).not.toContain('usage');
  const asked = await spoken(aChat({ stream: true, stream_options: { include_usage: true } }));
  expect(JSON.parse(asked.at(-3)?.slice('data: '.length) ?? '')).toMatchObject({
    choices: [],
    usage: { total_tokens: 20 },
  });
});

test.each<[string, object]>([
  ['model', { model: '' }],
  ['messages', { messages: [] }],
  ['messages', { messages: 'hello' }],
  ['max_completion_tokens', { max_tokens: 0 }],
])("a body with a wrong %s is refused in the form of OpenAI's errors", async (name, over) => {
  const { status, body } = await sandbox.call('POST', path, aChat(over));

  expect([status, body]).toEqual([
    400,
    {
      error: {
        message: expect.stringContaining(`'${name}'`),
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_request',
      },
    },
  ]);
});
