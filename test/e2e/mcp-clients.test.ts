import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { drawCases } from '@reelgate/platform/testing/draw-cases';
import { startScriptedModel } from '../harness/scripted-model.ts';
import type { ScriptedModel } from '../harness/scripted-model.ts';
import { startScriptedProgram } from '../harness/scripted-program.ts';
import type { ScriptedProgram } from '../harness/scripted-program.ts';
import { pythonWith } from '../harness/toolchains.ts';
import { findTool, installTool } from '../manifests/tools.ts';
import { EXAMPLES, MODULES, RUN_TIMEOUT_MS, environmentFor, runExample } from './example-runs.ts';

const START_TIMEOUT_MS = 120_000;
const PAGES = path.join(EXAMPLES, 'mcp');
/** The pages for Python whose programs one run tries. */
const PAGES_DRAWN = 2;
const PAGE_ADDRESS = 'http://127.0.0.1:8080';
/** Longer than the five seconds after which openai-agents gives up a call. */
const PROMPT = 'a red boat [take:7000]';
const LINK = /https?:\S+\.mp4\?\S+/;

const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-mcp-clients-'));
let scripted: ScriptedProgram;
let model: ScriptedModel;
beforeAll(async () => {
  scripted = await startScriptedProgram();
}, START_TIMEOUT_MS);
afterAll(async () => {
  await scripted?.end();
  rmSync(folder, { recursive: true, force: true });
}, START_TIMEOUT_MS);
beforeEach(async () => {
  model = await startScriptedModel(PROMPT);
});
afterEach(() => model.stop());

/** The program of a page, for the address of this gateway. */
function readProgram(page: string, language: string): string {
  const text = readFileSync(path.join(PAGES, page), 'utf8');
  const [, program] = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(text) ?? [];
  if (program?.includes(PAGE_ADDRESS) !== true) throw new Error(`${page} has no program for ${PAGE_ADDRESS}`);
  return program.replaceAll(PAGE_ADDRESS, scripted.program.base);
}

const environment = (): Readonly<Record<string, string>> => ({
  ...environmentFor(scripted.program),
  OPENAI_BASE_URL: `${model.url}/v1`,
  OPENAI_API_KEY: 'key-of-the-model',
  OPENAI_AGENTS_DISABLE_TRACING: '1',
  MODEL_URL: model.url,
});

/** Runs a program of a page, of which a person agrees to the price. */
async function runProgram(file: string, name: string, program: string): Promise<string> {
  const cwd = mkdtempSync(path.join(folder, 'run-'));
  symlinkSync(MODULES, path.join(cwd, 'node_modules'));
  writeFileSync(path.join(cwd, name), program);
  return runExample(file, [name], { cwd, environment: environment(), input: 'yes\n' });
}

async function expectVideo(out: string): Promise<void> {
  const [link] = LINK.exec(out) ?? [];
  if (link === undefined) throw new Error(`no link in ${out}; the tools answered ${model.answers.join('\n')}`);
  const { status, headers } = await fetch(link);

  expect([status, headers.get('content-type')]).toEqual([200, 'video/mp4']);
}

/** Checks that no call of the model failed, and that the model waited often enough for a long video. */
function expectPatientModel(waitsMin = 2): void {
  const [, , ...waits] = model.answers;

  expect(model.answers.filter((answer) => /error|timed? ?out/i.test(answer))).toEqual([]);
  expect(waits.length).toBeGreaterThanOrEqual(waitsMin);
}

const python = await pythonWith(
  ['mcp', 'fastmcp', 'agents', 'pydantic_ai'],
  [path.join(PAGES, 'requirements.txt')],
  folder,
);

describe('the program of the page for Python', () => {
  const pages = [
    ['python-mcp.md', undefined],
    ['fastmcp.md', undefined],
    ['openai-agents.md', 2],
    // it asks for progress, and waits longer
    ['pydantic-ai.md', 1],
  ] as const;
  if ('missing' in python) {
    process.stderr.write(`skipped: the pages for Python: ${python.missing}\n`);
    test.skip.each(pages)('%s makes a video', () => undefined);
    return;
  }
  test.each(drawCases('pages', pages, PAGES_DRAWN))(
    '%s makes a video',
    async (page, waitsMin) => {
      const out = await runProgram(python.file, 'boat.py', readProgram(page, 'python'));

      await expectVideo(out);
      if (waitsMin !== undefined) expectPatientModel(waitsMin);
    },
    RUN_TIMEOUT_MS,
  );
});

test(
  'the program of the page for the AI SDK makes a video with a model',
  async () => {
    const out = await runProgram(process.execPath, 'boat.mjs', readProgram('ai-sdk.md', 'js'));

    await expectVideo(out);
    expectPatientModel();
  },
  RUN_TIMEOUT_MS,
);

/** Google has no page of its own: its SDK takes the official client. */
const GOOGLE = `
import { GoogleGenAI, mcpToTool } from '@google/genai';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const { REELGATE_URL, REELGATE_API_KEY, MODEL_URL } = process.env;
const client = new Client({ name: 'test', version: '1' });
const headers = { authorization: \`Bearer \${REELGATE_API_KEY}\` };
await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', REELGATE_URL), { requestInit: { headers } }));
const google = new GoogleGenAI({ apiKey: 'x', httpOptions: { baseUrl: MODEL_URL } });
const { text } = await google.models.generateContent({
  model: 'gemini-2.5-flash',
  contents: 'Make a video.',
  config: { tools: [mcpToTool(client)], automaticFunctionCalling: { maximumRemoteCalls: 50 } },
});
console.log(text);
await client.close();
`;

test(
  "Google's SDK for JavaScript gives the tools to a model",
  async () => {
    await expectVideo(await runProgram(process.execPath, 'google.mjs', GOOGLE));
    expectPatientModel();
  },
  RUN_TIMEOUT_MS,
);

const failure = installTool('gemini-cli');
if (failure === undefined)
  test(
    'the settings of the page for Gemini CLI connect it, and its model makes a video',
    async () => {
      const cwd = mkdtempSync(path.join(folder, 'gemini-'));
      mkdirSync(path.join(cwd, '.gemini'));
      writeFileSync(path.join(cwd, '.gemini/settings.json'), readProgram('gemini-cli.md', 'json'));
      const home = mkdtempSync(path.join(folder, 'home-'));
      mkdirSync(path.join(home, '.gemini'));
      const settings = { security: { auth: { selectedType: 'gemini-api-key' } } };
      writeFileSync(path.join(home, '.gemini/settings.json'), JSON.stringify(settings));
      const run = (...args: readonly string[]): Promise<string> =>
        runExample(findTool('gemini-cli'), args, {
          cwd,
          environment: {
            ...environment(),
            HOME: home,
            GEMINI_API_KEY: 'x',
            GOOGLE_GEMINI_BASE_URL: model.url,
            GEMINI_CLI_TRUST_WORKSPACE: 'true',
          },
        });
      const out = await run('--yolo', '--model', 'gemini-2.5-flash', '--prompt', 'Make a video.');

      await expectVideo(out);
      // it asks for progress
      expectPatientModel(1);
    },
    RUN_TIMEOUT_MS,
  );
else {
  process.stderr.write(`skipped: the page for Gemini CLI: ${failure}\n`);
  test.skip('the settings of the page for Gemini CLI connect it, and its model makes a video', () => undefined);
}
