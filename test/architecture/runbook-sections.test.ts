import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { statusWords } from '../../services/gateway/console/pages/operator/operator-words.ts';
import { prepareAssets } from '../../services/gateway/src/console-server/assets/prepare-assets.ts';
import { readRunbook } from '../../services/gateway/src/console-server/assets/transform-sources.ts';

const ROOT = path.join(import.meta.dirname, '../..');
/** An escape in a string of the page. */
const ESCAPE = /\\(?<character>[\s\S])/g;

test('the console has each section of the runbook', async () => {
  const { operator, client } = await prepareAssets();
  const page = Buffer.from(operator.files.get('pages/operator/runbook.tsx')?.plain ?? [])
    .toString()
    .replaceAll(ESCAPE, (_escape, character: string) => (character === 'n' ? '\n' : character));
  const readme = readFileSync(path.join(ROOT, 'deploy/README.md'), 'utf8');
  const alerts = [...readme.matchAll(/^### (Reelgate\w+)$/gm)].map(([, alert = '']) => alert);

  expect(alerts.length).toBeGreaterThan(30);
  expect(Object.keys(readRunbook())).toEqual(alerts);
  for (const text of Object.values(readRunbook())) expect(page).toContain(text);
  expect(client.files.has('pages/operator/runbook.tsx')).toBe(false);
});

test('each alert of the status line has a rule and a section', () => {
  const rules = readFileSync(path.join(ROOT, 'deploy/monitoring/rules.yaml'), 'utf8');
  for (const alert of Object.keys(statusWords.status.todo)) {
    expect(readRunbook()).toHaveProperty(alert);
    expect(rules).toContain(`alert: ${alert}\n`);
  }
});
