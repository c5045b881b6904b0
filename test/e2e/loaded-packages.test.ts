import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { newProgram } from '../harness/program.ts';

/** What this configuration does not name, or no request has asked for. */
const UNUSED =
  /\/node_modules\/(?:@redis|redis|pg|nats|@aws-sdk|@connectrpc\/connect-node|@modelcontextprotocol|sharp)\//;
const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-loaded-'));
const list = path.join(folder, 'loaded');
const hook = path.join(folder, 'hook.mjs');

afterAll(() => {
  rmSync(folder, { recursive: true });
});

test('a start loads no package of a server that the configuration does not name', async () => {
  writeFileSync(
    hook,
    `import { writeFileSync } from 'node:fs';
     import { registerHooks } from 'node:module';
     const urls = [];
     registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
     process.on('exit', () => writeFileSync(${JSON.stringify(list)}, urls.join('\\n')));`,
  );
  const program = await newProgram('one program', { upstream: '127.0.0.1:1' }, undefined, {
    environment: { NODE_OPTIONS: `--import=${hook}` },
  });
  await program.start();
  await program.stop();
  await program.end();

  const loaded = readFileSync(list, 'utf8').split('\n');
  expect(loaded.some((url) => url.endsWith('/services/gateway/src/app.ts'))).toBe(true);
  expect(loaded.filter((url) => UNUSED.test(url))).toEqual([]);
});
