import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { aContextIr, aGeneration, aPrompt, aRegeneration } from './testing/bodies.ts';
import { callbackReceiver, type CallbackReceiver } from './testing/callback-receiver.ts';
import {
  contextIrPath,
  generationPath,
  queryPath,
  regenerationPath,
  runningSandbox,
  type RunningSandbox,
} from './testing/running-sandbox.ts';

let sandbox: RunningSandbox;
let receiver: CallbackReceiver;
beforeEach(async () => {
  sandbox = await runningSandbox();
  receiver = await callbackReceiver();
});
afterEach(async () => {
  await sandbox.stop();
  await receiver.stop();
});

const statuses = (): readonly unknown[] => receiver.received.map(({ task }) => task?.status);

test('a callback address gets the challenge within the create, then each change in the shape of a query', async () => {
  const id = await sandbox.created(generationPath, aGeneration({ callback_url: receiver.url }));
  const atCreate = receiver.received.length;
  sandbox.clock.advance(1000);
  await receiver.has(2);
  sandbox.clock.advance(1000);
  await receiver.has(3);

  expect([atCreate, statuses()]).toEqual([1, [undefined, 'running', 'succeeded']]);
  expect(receiver.received[0]).toEqual({ challenge: expect.stringMatching(/^[0-9a-f]{32}$/) });
  expect(receiver.received[2]).toEqual({
    task: { ...(await sandbox.task(id)), content: { url: expect.stringContaining('/cdn/') } },
  });
});

test('a cancellation is posted to the callback address', async () => {
  const id = await sandbox.created(generationPath, aGeneration({ callback_url: receiver.url }));

  await sandbox.call('DELETE', `${generationPath}/${id}`);
  await receiver.has(2);

  expect(statuses()).toEqual([undefined, 'cancelled']);
});

test('a video that takes longer than planned is posted when it is ready', async () => {
  let finish = (): void => undefined;
  const slow = await runningSandbox({
    render: () =>
      new Promise((resolve) => {
        finish = () => {
          resolve(new Uint8Array(1));
        };
      }),
  });
  await slow.created(generationPath, aGeneration({ callback_url: receiver.url }));
  slow.clock.advance(60_000);
  await receiver.has(2);

  finish();
  await receiver.has(3);
  await slow.stop();

  expect(statuses()).toEqual([undefined, 'running', 'succeeded']);
});

test('the callback address of [no-push] is challenged and never called again', async () => {
  await sandbox.created(generationPath, aPrompt('[no-push]', { callback_url: receiver.url }));
  await sandbox.created(generationPath, aPrompt('A fox', { callback_url: receiver.url }));

  sandbox.clock.advance(2000);
  await receiver.has(4);

  expect(statuses()).toEqual([undefined, undefined, 'running', 'succeeded']);
});

test.each<[string, Parameters<typeof callbackReceiver>[0]]>([
  [
    'another word',
    (response) => {
      response.end('{"challenge":"other"}');
    },
  ],
  [
    'an error',
    (response, { challenge }) => {
      response.writeHead(500).end(JSON.stringify({ challenge }));
    },
  ],
  [
    'no JSON',
    (response) => {
      response.end('hello');
    },
  ],
])('an address that answers with %s is refused, and no task exists', async (_name, answer) => {
  const deaf = await callbackReceiver(answer);

  const reply = await sandbox.call('POST', generationPath, aGeneration({ callback_url: deaf.url }));
  await deaf.stop();

  expect(reply).toMatchObject({
    status: 400,
    body: { error: { type: 'bad_request_error', message: 'fail to check callback url (2013)' } },
  });
  expect((await sandbox.call('GET', queryPath)).body).toEqual({ items: [], total: 0 });
});

test('an address that takes more than three seconds is refused', async () => {
  const deaf = await callbackReceiver(() => undefined);
  const create = sandbox.call('POST', generationPath, aGeneration({ callback_url: deaf.url }));
  await deaf.has(1);

  sandbox.clock.advance(3000);
  const reply = await create;
  await deaf.stop();

  expect(reply.text).toContain('fail to check callback url (2013)');
});

test('context-IR and regeneration have callbacks too', async () => {
  const source = await sandbox.created(generationPath, aGeneration());
  sandbox.clock.advance(2000);
  await sandbox.created(contextIrPath, aContextIr({ callback_url: receiver.url }));
  await sandbox.created(regenerationPath, aRegeneration({ source_task_id: source, callback_url: receiver.url }));

  sandbox.clock.advance(1000);
  await receiver.has(4);

  expect(receiver.received.map(({ task }) => task?.['task_type']).sort()).toEqual([
    'h3_context_ir',
    'regeneration',
    undefined,
    undefined,
  ]);
});
