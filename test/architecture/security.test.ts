import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';

const ROOT = path.resolve(import.meta.dirname, '../..');
const DOCUMENT = 'SECURITY.md';
const HEADING = '| Boundary | Attack | Defence | Test |';
const TEST_PATH = /`([^`]+\.test\.ts)`/g;
const CASE = /\btest\b.*\(/;
const UNWRITTEN = /(test|it|describe)\.(todo|failing)\(/;

interface Threat {
  readonly name: string;
  readonly defence: string;
  readonly tests: readonly string[];
}

/** The rows of the table below its heading. A row without a boundary belongs to the boundary above it. */
function readThreats(document: string): readonly Threat[] {
  const lines = document.slice(document.indexOf(HEADING)).split('\n').slice(2);
  const end = lines.findIndex((line) => !line.startsWith('|'));
  let boundary = '';
  return lines.slice(0, end).map((line) => {
    const [, place = '', attack = '', defence = '', tests = ''] = line.split('|').map((cell) => cell.trim());
    boundary = place === '' ? boundary : place;
    return {
      name: `${boundary}: ${attack}`,
      defence,
      tests: [...tests.matchAll(TEST_PATH)].map(([, file = '']) => file),
    };
  });
}

const threats = readThreats(readFileSync(path.join(ROOT, DOCUMENT), 'utf8'));

test.each(['client console', 'operator console', 'operator door', 'webhooks', 'makers of tokens'])(
  'the table of threats has the boundary: %s',
  (boundary) => {
    expect(threats.some((one) => one.name.startsWith(boundary))).toBe(true);
  },
);

describe.each(threats)('the threat "$name"', ({ defence, tests }) => {
  test('has a defence, and a test that holds it', () => {
    expect(defence).not.toBe('');
    expect(tests).not.toEqual([]);
  });

  test.each(tests.map((file) => [file]))('is tested by %s, and no case of it is unwritten', (file) => {
    const text = readFileSync(path.join(ROOT, file), 'utf8');
    expect(text).toMatch(CASE);
    expect(text).not.toMatch(UNWRITTEN);
  });
});
