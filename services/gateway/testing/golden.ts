import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import { format } from 'prettier';

const FOLDER = fileURLToPath(new URL('../golden', import.meta.url));

/** Compares a reply with its golden file. `UPDATE_GOLDEN=1` rewrites the files; read the diff. */
export function expectGolden(name: string, value: unknown): void {
  expectText(path.join(FOLDER, `${name}.json`), `${JSON.stringify(value, null, 2)}\n`);
}

/** As `expectGolden`, for a long document: the formatter writes what fits on a line on one line. */
export async function expectGoldenDocument(name: string, value: unknown): Promise<void> {
  const layout = { parser: 'json', printWidth: 120, objectWrap: 'collapse' } as const;
  expectText(path.join(FOLDER, `${name}.json`), await format(JSON.stringify(value), layout));
}

/** Compares a text with a file that was written from it. `UPDATE_GOLDEN=1` writes the file. */
export function expectText(file: string, text: string): void {
  if (process.env['UPDATE_GOLDEN'] === '1') {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    return;
  }
  expect(existsSync(file) ? readFileSync(file, 'utf8') : `no file ${path.basename(file)}`).toBe(text);
}
