import { DURATIONS, RATIOS, RICH } from './simulated-config.ts';
import type { HttpAnswer, HttpOrder } from './simulated-http.ts';
import { mayRepeat, readMembers, sendOrder } from './world.ts';
import type { World } from './world.ts';

/** The names of the batches of a run. */
export const BATCHES: readonly string[] = ['batch-1', 'batch-2'];
const ORDERED = 0.8;
const LINES = { least: 1, most: 5 };
/** The number of the first order of a batch: the orders of other clients have smaller ones. */
const FIRST_ORDER = 900;
const ORDERS_OF_ONE = 10;
const MODEL = 'Alpha-H3';
const RESOLUTION = '768P';
const WITHIN_MS = 40_000;
const CANCELLED = 0.25;
const CANCELLED_AFTER_MS_MAX = 20_000;
const TRIES_MAX = 40;
const READS_MAX = 40;
const READ_APART_MS = { least: 2000, most: 6000 };
/** The states of a batch that has ended. */
export const ENDED: ReadonlySet<unknown> = new Set(['completed', 'failed', 'expired', 'cancelled']);
const [CALLER_KEY] = RICH.keys;
const BOUNDARY = 'simulated-form';

/** A batch as its client reads it. */
interface SeenBatch {
  readonly id?: string;
  readonly status?: string;
  readonly output_file_id?: string | null;
  readonly error_file_id?: string | null;
}

interface ResultLine {
  readonly custom_id: string;
  readonly response: { readonly status_code: number; readonly body: { readonly id?: string } } | null;
}

/** A client that orders many videos in a file, reads the batch to its end, and checks that each line has one result. */
export async function runBatches(world: World): Promise<void> {
  const { scheduler, draws, faults } = world;
  await Promise.all(
    BATCHES.filter((name) => !faults.isLeftOut(name) && draws.happens(`${name} ordered`, ORDERED)).map(async (name) => {
      await scheduler.pause(draws.whole(`${name} wait`, 0, WITHIN_MS));
      await runBatch(world, name);
    }),
  );
}

async function runBatch(world: World, name: string): Promise<void> {
  const { draws, scheduler, acts, orders } = world;
  const lines = listOrders(world, name);
  const text = lines.map(({ line }) => JSON.stringify(line)).join('\n');
  const file = await sendUntilAnswered(world, `${name} file`, describeFile('orders.jsonl', text));
  if (file?.status !== 200) return;
  acts.note('a file is uploaded');
  const created = await sendUntilAnswered(world, name, {
    ...{ method: 'POST', path: '/v1/batches', key: CALLER_KEY },
    headers: { 'idempotency-key': `key-of-${name}` },
    body: { input_file_id: readMembers(file)['id'], endpoint: '/v1/videos', completion_window: '24h' },
  });
  const { id } = created === undefined ? {} : (readMembers(created) as SeenBatch);
  if (created?.status !== 200 || id === undefined) return;
  const cancels = draws.happens(`${name} cancel`, CANCELLED)
    ? scheduler.pause(draws.whole(`${name} cancel after`, 0, CANCELLED_AFTER_MS_MAX)).then(() =>
        sendUntilAnswered(world, `${name} cancel`, {
          ...{ method: 'POST', path: `/v1/batches/${id}/cancel`, key: CALLER_KEY },
        }),
      )
    : undefined;
  const [ended] = await Promise.all([readUntilEnd(world, name, id), cancels]);
  for (const { order } of lines) orders.answered(order);
  if (ended === undefined) return;
  if (ended.status === 'completed') acts.note('a batch completes');
  if (ended.status === 'cancelled') acts.note('a batch is cancelled');
  if (ended.status !== 'failed') await checkResults(world, name, ended, lines);
}

interface BatchLine {
  readonly order: string;
  readonly line: object;
}

function listOrders({ draws, orders, variation }: World, name: string): readonly BatchLine[] {
  const first = FIRST_ORDER + BATCHES.indexOf(name) * ORDERS_OF_ONE;
  return Array.from({ length: draws.whole(`${name} lines`, LINES.least, LINES.most) }, (_none, at) => {
    const order = `order-${first + at}`;
    const seconds = draws.pick(`${order} duration`, DURATIONS);
    orders.open({
      ...{ order, caller: { account: RICH.id, token: CALLER_KEY }, key: '', label: '', isRemix: false },
      ...{ resolution: RESOLUTION, seconds, inputSeconds: 0, maxNanos: undefined },
    });
    // the lines of a batch wait in its class
    orders.sent(order, variation.longestWait !== undefined);
    const body = {
      ...{ model: MODEL, prompt: `many foxes [${order}]`, seconds: String(seconds), resolution: RESOLUTION },
      ratio: draws.pick(`${order} ratio`, RATIOS),
    };
    return { order, line: { custom_id: order, method: 'POST', url: '/v1/videos', body } };
  });
}

/** The upload of a file for a batch. */
export function describeFile(filename: string, text: string): HttpOrder & { readonly body: string } {
  const part = (head: string, content: string): string =>
    `--${BOUNDARY}\r\ncontent-disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
  return {
    ...{ method: 'POST', path: '/v1/files', key: CALLER_KEY },
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    body: `${part('name="purpose"', 'batch')}${part(`name="file"; filename="${filename}"`, text)}--${BOUNDARY}--\r\n`,
  };
}

async function readUntilEnd(world: World, name: string, id: string): Promise<SeenBatch | undefined> {
  const { scheduler, draws, rules } = world;
  const createdAt = scheduler.now();
  for (let reads = 1; reads <= READS_MAX; reads += 1) {
    await scheduler.pause(draws.whole(`${name} read ${reads}`, READ_APART_MS.least, READ_APART_MS.most));
    const answer = await sendOrder(world, name, { method: 'GET', path: `/v1/batches/${id}`, key: CALLER_KEY });
    if (answer?.status === 404 && !rules.isForgotten(createdAt)) rules.break('no batch is lost', id);
    if (answer?.status !== 200) continue;
    const batch = readMembers(answer) as SeenBatch;
    if (ENDED.has(batch.status)) return batch;
  }
  return undefined;
}

/** Each line of an ended batch has one result, in one of the two files. A line that never began may have none. */
async function checkResults(
  world: World,
  name: string,
  { status, output_file_id: output, error_file_id: errors }: SeenBatch,
  lines: readonly BatchLine[],
): Promise<void> {
  const { rules, acts } = world;
  const read = await Promise.all([output, errors].map((file) => readResults(world, name, file)));
  if (read.includes(undefined)) return;
  const results = read.flatMap((some) => some ?? []);
  for (const { order } of lines) {
    const own = results.filter(({ custom_id: id }) => id === order);
    if (own.length > 1 || (own.length === 0 && status === 'completed'))
      rules.break('each line of a batch has one result', `${order} of ${name} has ${own.length}`);
    const response = own[0]?.response;
    const taskId = response?.body.id;
    if (response?.status_code !== 200 || taskId === undefined) continue;
    acts.note('a line of a batch completes');
    rules.promised(
      { order, account: RICH.id, key: '' },
      { id: taskId, status: 'completed', error: '', label: undefined, charged: undefined },
    );
  }
}

/** Reads the lines of a file of results, of which there may be none. Undefined if the file cannot be read. */
async function readResults(
  world: World,
  name: string,
  file: string | null | undefined,
): Promise<readonly ResultLine[] | undefined> {
  if (file === undefined || file === null) return [];
  const path = `/v1/files/${file}/content`;
  const answer = await sendUntilAnswered(world, `${name} results`, { method: 'GET', path, key: CALLER_KEY });
  if (answer?.status !== 200) return undefined;
  return answer.text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ResultLine);
}

async function sendUntilAnswered(world: World, name: string, order: HttpOrder): Promise<HttpAnswer | undefined> {
  const { scheduler, draws } = world;
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const answer = await sendOrder(world, name, order);
    if (answer !== undefined && !mayRepeat(answer)) return answer;
    await scheduler.pause(draws.whole(`${name} try ${tries}`, READ_APART_MS.least, READ_APART_MS.most));
  }
  return undefined;
}
