import { afterAll, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { configJsonSchema } from '../program/config/config-json-schema.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PROGRAMS = path.join(ROOT, 'node_modules/.bin');
const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-schema-'));
const file = path.join(folder, 'reelgate.schema.json');

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const write = (programs: string): number | null =>
  spawnSync(process.execPath, [path.join(import.meta.dirname, 'write-schema.ts'), file], {
    env: { ...process.env, NODE_OPTIONS: '', PATH: programs },
  }).status;

test('the command writes the schema, or leaves the file as it was', () => {
  writeFileSync(file, 'of before');
  const failed = write(folder);
  const left = [readFileSync(file, 'utf8'), ...readdirSync(folder)];
  const written = write(`${PROGRAMS}${path.delimiter}${path.dirname(process.execPath)}`);

  expect([failed, left]).toEqual([1, ['of before', 'reelgate.schema.json']]);
  expect([written, JSON.parse(readFileSync(file, 'utf8'))]).toEqual([0, configJsonSchema()]);
});

test('no script sends its output into a file, which a failure would leave empty', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { scripts: object };

  expect(Object.entries(scripts).filter(([, command]) => /(?<!=)>/.test(String(command)))).toEqual([]);
});
