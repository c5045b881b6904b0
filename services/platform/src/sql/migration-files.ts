import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

/**
 * Marks the last step of an expansion, and names the first migration after which a program no longer uses the removed
 * parts.
 */
const CONTRACT = /^-- contract: needs (\S+\.sql)$/m;

export interface Migration {
  readonly name: string;
  readonly checksum: string;
  /** The migration without which a program cannot use the schema any more. Undefined if an older program still can. */
  readonly needs: string | undefined;
  readonly statements: readonly string[];
}

/** The numbered `.sql` files of a folder, in order. */
export function readMigrations(folder: string): readonly Migration[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => {
      const text = readFileSync(path.join(folder, name), 'utf8');
      return {
        name,
        checksum: createHash('sha256').update(text).digest('hex'),
        needs: CONTRACT.exec(text)?.[1],
        statements: splitStatements(text),
      };
    });
}

/** A statement ends with a semicolon at the end of a line. A comment has a line of its own. */
function splitStatements(text: string): string[] {
  const code = text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('--'))
    .join('\n');
  return code
    .split(/;\s*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}
