import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The page of operators. The image has it only while its pages are made. */
const PAGE = path.join(import.meta.dirname, '../../../../../deploy/README.md');
const SECTION = /^### (?<alert>Reelgate\w+)\n(?<text>[\s\S]*?)(?=^##)/gm;

/** Reads the sections of the runbook by their alerts, without the indents of lists. */
export function readRunbook(): Readonly<Record<string, string>> {
  const sections = readFileSync(PAGE, 'utf8').matchAll(SECTION);
  return Object.fromEntries(
    sections.map(({ groups: { alert = '', text = '' } = {} }) => [alert, text.trim().replaceAll(/\n +/g, '\n')]),
  );
}
