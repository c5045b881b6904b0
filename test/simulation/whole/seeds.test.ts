import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { simulateSeeds } from './simulate-seeds.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-simulation-logs-'));
afterAll(() => rmSync(folder, { recursive: true }));
const logFile = (name: string): string => path.join(folder, `${name}.log`);

test('a seed is one run: in two processes, alone and after another seed, its log is the same to the last byte', async () => {
  const alone = await simulateSeeds('--seed', '4', '--log', logFile('alone'));
  const after = await simulateSeeds('--seed', '3', '--seeds', '2', '--log', logFile('after'));

  expect([alone.code, after.code]).toEqual([0, 0]);
  const log = readFileSync(logFile('alone'), 'utf8');
  expect(log).toContain(' dies: power cut');
  expect(readFileSync(logFile('after'), 'utf8')).toBe(log);
});

test('seeds with faults and without faults hold every rule', async () => {
  const { code, out } = await simulateSeeds('--seed', '6', '--seeds', '4');

  expect(out.match(/^seed \d+: [1-9]\d* tasks/gm)).toHaveLength(4);
  expect(out).toMatch(/^seed \d+: .* [1-9]\d* crashes/m);
  expect(out).toMatch(/^seed \d+: .* 0 crashes/m);
  expect(code).toBe(0);
});

test('a run ends after a number of steps', async () => {
  const { code, out } = await simulateSeeds('--seed', '1', '--steps', '500');

  expect(out).toMatch(/^seed 1: .* 500 steps/m);
  expect(code).toBe(0);
});

test('a seed that is no number is refused', async () => {
  const { code, out } = await simulateSeeds('--seed', 'eleven');

  expect(out).toContain('seed: expected a whole number');
  expect(code).toBe(2);
});
