import { spawnSync } from 'node:child_process';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { aGeneration } from '../harness/orders.ts';
import { newProgram } from '../harness/program.ts';
import type { Program, Shape } from '../harness/program.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { KEYS } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';
import { missingPromtool } from './promtool.ts';

const START_MS = 120_000;
const SCRAPE_MS_MAX = 3000;
/** Numbers of a database are read beside a scrape, and again every ten seconds. */
const NUMBERS_TIMEOUT_MS = 120_000;
const TEST_MS = 2 * NUMBERS_TIMEOUT_MS;
/** The task is still queued when the numbers are read, however slow the machine is. */
const QUEUED_MS = 600_000;
/** A word of a client that no label may hold. */
const STRANGE = 'stranger-7f3a';

const missing = missingPromtool();
if (missing !== undefined) process.stderr.write(`skipped: promtool check metrics: ${missing}\n`);
const withPromtool = missing === undefined ? test : test.skip;

/** The names of metrics that promtool finds a fault with. Those of Node's runtime are not ours to name. */
function lint(text: string): string[] {
  const { stdout, stderr, error } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  if (error !== undefined) throw error;
  return `${stdout}${stderr}`.split('\n').filter((line) => line !== '' && !/^(nodejs|process)_/.test(line));
}

const call = (base: string, method: string, path: string, body?: object): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${KEYS.demo}`, 'content-type': 'application/json' };
    const sent = request(`${base}${path}`, { method, headers }, (answer) => {
      answer.resume().on('end', () => {
        resolve(answer.statusCode ?? 0);
      });
    });
    sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  });

/** Creates a task, and names strange models, routes and methods. */
async function smallLoad({ base }: Program): Promise<void> {
  const order = aGeneration(`a cat [queue:${QUEUED_MS}]`);
  expect(await call(base, 'POST', '/v2/video_generation', order)).toBe(200);
  for (const model of [STRANGE, `${STRANGE}"} 1`]) {
    await call(base, 'POST', '/v2/video_generation', { ...order, model });
    await call(base, 'POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: STRANGE }] });
  }
  await call(base, 'PROPFIND', `/v1/${STRANGE}`);
  await call(base, 'GET', `/v1/videos/${STRANGE}`);
}

async function scrape(address: string, accept = 'text/plain'): Promise<string> {
  const startedAt = performance.now();
  const response = await fetch(`http://${address}/metrics`, { headers: { accept } });
  const text = await response.text();
  expect(response.status).toBe(200);
  expect(performance.now() - startedAt).toBeLessThan(SCRAPE_MS_MAX);
  return text;
}

function scrapeSuite(shape: Shape, bus?: () => string): void {
  let upstream: ScriptedUpstream;
  let program: Program;
  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    program = await newProgram(shape, { upstream: upstream.host, bus: bus?.() });
    await program.start();
    await smallLoad(program);
  }, START_MS);
  afterAll(async () => {
    await program.end();
    await upstream.stop();
  });
  const addresses = (): readonly string[] => {
    const { gateway, tasks, billing, media } = program.config;
    return shape === 'one program' ? [gateway.admin] : [gateway.admin, tasks.http, billing.http, media.http];
  };

  withPromtool('promtool finds no fault in a scrape of any process', async () => {
    for (const address of addresses()) expect(lint(await scrape(address))).toEqual([]);
    expect(lint('# TYPE reelgate_bad counter\nreelgate_bad 1\n')).not.toEqual([]);
  });

  test('no label holds a word of a client, the id of a task, an account or a token', async () => {
    for (const address of addresses()) {
      const samples = (await scrape(address)).split('\n').filter((line) => !line.startsWith('#'));
      expect(samples.filter((line) => /stranger|PROPFIND|task_[0-9A-Za-z]{8}|"demo"|sk-/.test(line))).toEqual([]);
    }
  });

  test(
    'the processes together publish the numbers over the databases',
    async () => {
      const expected = [
        'reelgate_tasks_open{state="queued"',
        'reelgate_tasks_due_lag_seconds{',
        'reelgate_attention_open ',
        'reelgate_outbox_rows{service="tasks"} ',
        'reelgate_settlement_lag_seconds ',
        'reelgate_money_held{model="Alpha-H3",currency="USD"} ',
        'reelgate_ledger_imbalance 0',
        'reelgate_results_bytes ',
        'reelgate_bus_pending{consumer="billing-reelgate-tasks-v1-TaskFinished"} ',
        'reelgate_rpc_seconds_count{method="TaskService/CreateTask",status="OK"} 1',
        'reelgate_sql_pool{service="billing",state="idle"} ',
        'reelgate_build_info{version="',
      ];
      let text = '';
      const absent = (): readonly string[] => expected.filter((name) => !text.includes(`\n${name}`));
      await until(async () => {
        text = (await Promise.all(addresses().map((address) => scrape(address)))).join('\n');
        return absent().length === 0;
      }, NUMBERS_TIMEOUT_MS).catch(() => undefined);

      expect(absent()).toEqual([]);
    },
    TEST_MS,
  );

  test('OpenMetrics is the answer to who asks for it', async () => {
    for (const address of addresses())
      expect(await scrape(address, 'application/openmetrics-text')).toMatch(/# EOF\n$/);
  });
}

describe('one program', () => {
  scrapeSuite('one program');
});

describeWith(natsServer, 'four processes', (bus) => {
  scrapeSuite('four processes', bus);
});
