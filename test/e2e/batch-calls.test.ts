import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import OpenAI, { toFile } from 'openai';
import { moneyAccount } from '../harness/relay-config.ts';
import { startRelayProgram } from '../harness/relay-program.ts';
import type { RelayProgram } from '../harness/relay-program.ts';
import type { Shape } from '../harness/program.ts';
import { NEVER_SEEN } from '../harness/relay-upstream/identities.ts';
import { KEYS } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';

const START_TIMEOUT_MS = 120_000;
const TEST_TIMEOUT_MS = 120_000;
const END_TIMEOUT_MS = 90_000;
const MODEL = 'solo';
/** A body above this is a private object. */
const LONG = 40 * 1024;
/** What a chat of the upstream's usage costs, in billionths. */
const USED = 25_000_000n;
const ACCOUNTS = ['batches', 'killed'];

interface ResultLine {
  readonly custom_id: string;
  readonly response: {
    readonly status_code: number;
    readonly request_id: string;
    readonly body: { readonly data?: readonly object[]; readonly error?: { readonly code: string } };
  } | null;
  readonly error: { readonly code: string } | null;
}

const aChatLine = (customId: string, content = 'a red boat', more: object = {}): object => ({
  custom_id: customId,
  method: 'POST',
  url: '/v1/chat/completions',
  body: { model: MODEL, messages: [{ role: 'user', content: `${content} [mark:${customId}]` }], ...more },
});

/** The relayed routes as lines of a batch, in the real program. */
function batchCallsSuite(shape: Shape, bus?: () => string): void {
  let relay: RelayProgram;
  const openClient = (apiKey: string): OpenAI =>
    new OpenAI({ apiKey, baseURL: `${relay.program.base}/v1`, maxRetries: 2 });
  const clientOf = (account: string): OpenAI => openClient(moneyAccount(account).key);
  beforeAll(async () => {
    relay = await startRelayProgram({ shape, bus: bus?.(), accounts: ACCOUNTS, gateway: { batches: true } });
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await relay?.end();
  }, START_TIMEOUT_MS);

  const begin = async (
    client: OpenAI,
    lines: readonly object[],
    options: Partial<OpenAI.BatchCreateParams> = {},
  ): Promise<OpenAI.Batch> => {
    const text = lines.map((line) => JSON.stringify(line)).join('\n');
    const file = await client.files.create({ file: await toFile(Buffer.from(text), 'calls.jsonl'), purpose: 'batch' });
    return client.batches.create({
      input_file_id: file.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
      ...options,
    });
  };
  const end = async (client: OpenAI, { id }: OpenAI.Batch): Promise<OpenAI.Batch> => {
    let batch: OpenAI.Batch | undefined;
    await until(async () => {
      batch = await client.batches.retrieve(id).catch(() => undefined);
      return /^(completed|failed|expired|cancelled)$/.test(batch?.status ?? '');
    }, END_TIMEOUT_MS);
    return batch!;
  };
  const readLines = async (client: OpenAI, fileId: string | null | undefined): Promise<readonly ResultLine[]> => {
    if (fileId === null || fileId === undefined) return [];
    const text = await (await client.files.content(fileId)).text();
    for (const secret of NEVER_SEEN) expect(text).not.toContain(secret);
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as ResultLine);
  };

  test(
    "OpenAI's client gets the answer of each call, the answers of those that failed, and pays for each once",
    async () => {
      const client = clientOf('batches');
      const started = await begin(client, [
        aChatLine('one'),
        aChatLine('long', 'b'.repeat(LONG)),
        aChatLine('refused', '[status:400]'),
        aChatLine('streamed', 'a boat', { stream: true }),
      ]);
      const ended = await end(client, started);

      expect(ended).toMatchObject({
        status: 'completed',
        endpoint: '/v1/chat/completions',
        model: MODEL,
        request_counts: { total: 4, completed: 2, failed: 2 },
        charge: { state: 'final', currency: 'USD' },
      });
      const output = await readLines(client, ended.output_file_id);
      expect(output.map(({ custom_id: id }) => id)).toEqual(['one', 'long']);
      for (const { response, error } of output) {
        expect(error).toBeNull();
        expect(response).toMatchObject({ status_code: 200, body: { object: 'chat.completion', model: MODEL } });
        expect(response?.request_id).toBeTruthy();
      }
      const errors = await readLines(client, ended.error_file_id);
      expect(errors.map(({ custom_id: id, response, error }) => [id, response?.status_code, error?.code])).toEqual([
        ['refused', 400, undefined],
        ['streamed', undefined, 'invalid_request'],
      ]);
      expect(errors[0]?.response?.body.error).toBeDefined();
      for (const mark of ['one', 'long', 'refused']) expect(relay.upstream.marked(mark)).toHaveLength(1);
      expect(await relay.settled('batches')).toEqual({ spent: 2n * USED, held: 0n });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'embeddings are lines too, a bound is refused at once, and a line without money makes no call',
    async () => {
      const client = clientOf('batches');
      const line = {
        custom_id: 'vector',
        method: 'POST',
        url: '/v1/embeddings',
        body: { model: MODEL, input: 'a boat' },
      };
      const ended = await end(client, await begin(client, [line], { endpoint: '/v1/embeddings' }));
      const [vector] = await readLines(client, ended.output_file_id);
      expect(vector?.response?.body.data).toHaveLength(1);

      const poor = openClient(KEYS.poor);
      const unpaid = await end(poor, await begin(poor, [aChatLine('unpaid')]));
      expect((await readLines(poor, unpaid.error_file_id)).map(({ response }) => response)).toMatchObject([
        { status_code: 429, body: { error: { code: 'insufficient_quota' } } },
      ]);
      expect(relay.upstream.marked('unpaid')).toEqual([]);

      await expect(begin(client, [aChatLine('a')], { metadata: { max_amount: '1' } })).rejects.toMatchObject({
        status: 400,
        param: 'metadata.max_amount',
      });
      await expect(begin(client, [line], { endpoint: '/v1/moderations' })).rejects.toMatchObject({ param: 'endpoint' });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'kills of the program lose no line, and make no call twice',
    async () => {
      const client = clientOf('killed');
      const names = Array.from({ length: 12 }, (_none, index) => `killed-${index}`);
      const started = await begin(
        client,
        names.map((name) => aChatLine(name, '[slow:400]')),
      );
      const read = async (): Promise<OpenAI.Batch | undefined> =>
        client.batches.retrieve(started.id).catch(() => undefined);
      for (const reach of [
        async () => true,
        async () => names.some((name) => relay.upstream.marked(name).length > 0),
        async () => ((await read())?.request_counts?.completed ?? 0) > 2,
      ]) {
        await until(reach, END_TIMEOUT_MS);
        await relay.program.stop('SIGKILL');
        await relay.program.start();
      }
      const ended = await end(client, started);

      const output = await readLines(client, ended.output_file_id);
      const errors = await readLines(client, ended.error_file_id);
      expect([...output, ...errors].map(({ custom_id: id }) => id).toSorted()).toEqual(names.toSorted());
      for (const { error } of errors) expect(error?.code).toBe('outcome_unknown');
      for (const name of names) expect(relay.upstream.marked(name).length).toBeLessThanOrEqual(1);
      for (const { custom_id: id } of output) expect(relay.upstream.marked(id)).toHaveLength(1);
      expect(ended.request_counts).toEqual({ total: names.length, completed: output.length, failed: errors.length });
      // what a kill cut off stays held until a person decides
      await until(async () => {
        // the connection of the test to billing needs a moment after a restart
        const money = await relay.money('killed').catch(() => undefined);
        return money?.spent === BigInt(output.length) * USED;
      }, END_TIMEOUT_MS);
    },
    TEST_TIMEOUT_MS,
  );
}

describe('calls as lines of a batch in one program', () => {
  batchCallsSuite('one program');
});

describeWith(natsServer, 'calls as lines of a batch over four processes', (bus) => {
  batchCallsSuite('four processes', bus);
});
