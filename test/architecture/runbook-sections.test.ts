import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { RUNBOOK } from '../../services/gateway/console/pages/operator/runbook-sections.ts';
import { statusWords } from '../../services/gateway/console/pages/operator/operator-words.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const FILE = path.join(ROOT, 'services/gateway/console/pages/operator/runbook-sections.ts');
const HEAD = `/**
 * The sections of the runbook in deploy/README.md, by their alerts. test/architecture/runbook-sections.test.ts compares
 * them; run it with UPDATE_GOLDEN=1 after a change.
 */
export const RUNBOOK: Readonly<Record<string, string>> = {
`;

/** The text below each heading of an alert, without the indents of lists: the console loses spaces in a row. */
function readSections(): Readonly<Record<string, string>> {
  const readme = readFileSync(path.join(ROOT, 'deploy/README.md'), 'utf8');
  const sections = [...readme.matchAll(/^### (Reelgate\w+)\n([\s\S]*?)(?=^##)/gm)];
  return Object.fromEntries(
    sections.map(([, alert = '', text = '']) => [alert, text.trim().replaceAll(/\n +/g, '\n')]),
  );
}

/** One line of the document is one line of the file. */
function toSource(sections: Readonly<Record<string, string>>): string {
  const entries = Object.entries(sections).map(([alert, text]) => {
    const lines = text.split('\n').map((line) => `    ${JSON.stringify(line)},`);
    return `  ${alert}: [\n${lines.join('\n')}\n  ].join('\\n'),\n`;
  });
  return `${HEAD}${entries.join('')}};\n`;
}

test('the runbook of the console is that of deploy/README.md', () => {
  const sections = readSections();
  if (process.env['UPDATE_GOLDEN'] !== undefined) writeFileSync(FILE, toSource(sections));

  expect(Object.keys(sections).length).toBeGreaterThan(30);
  expect(process.env['UPDATE_GOLDEN'] === undefined ? RUNBOOK : sections).toEqual(sections);
});

test('each alert of the status line has a rule and a section', () => {
  const rules = readFileSync(path.join(ROOT, 'deploy/monitoring/rules.yaml'), 'utf8');
  for (const alert of Object.keys(statusWords.status.todo)) {
    expect(Object.keys(readSections())).toContain(alert);
    expect(rules).toContain(`alert: ${alert}\n`);
  }
});
