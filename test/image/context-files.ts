import { globSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { DOCKERIGNORE, ROOT } from './dockerfile.ts';
import type { ContextCopy } from './dockerfile.ts';

export interface ContextFile {
  readonly source: string;
  /** Absolute, in the image. */
  readonly target: string;
}

/** The files of this checkout that the COPY lines put into the image, without those that the ignore file names. */
export function contextFiles(copies: readonly ContextCopy[]): readonly ContextFile[] {
  const isIgnored = ignoredBy(readFileSync(DOCKERIGNORE, 'utf8'));
  return copies.flatMap(({ sources, target }) =>
    sources.flatMap((source) =>
      filesOf(source, isIgnored).map((file) => ({
        source: path.join(ROOT, file),
        target: targetOf(file, source, target),
      })),
    ),
  );
}

/** A folder's content is copied without the folder's own name. */
function targetOf(file: string, source: string, target: string): string {
  const within = path.relative(source, file);
  if (within !== '') return path.join(target, within);
  return target.endsWith('/') ? path.join(target, path.basename(file)) : target;
}

function filesOf(source: string, isIgnored: (file: string) => boolean): readonly string[] {
  if (statSync(path.join(ROOT, source)).isFile()) return isIgnored(source) ? [] : [source];
  return globSync(`${source}/**/*`, { cwd: ROOT, exclude: isIgnored })
    .filter((file) => !isIgnored(file) && statSync(path.join(ROOT, file)).isFile())
    .sort();
}

/** A pattern names a file or a folder with all that it holds. A line with an exclamation mark is an exception. */
function ignoredBy(text: string): (file: string) => boolean {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const kept = new Set(lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1)));
  const patterns = lines.filter((line) => !line.startsWith('!'));
  return (file) => {
    if (kept.has(file)) return false;
    const parts = file.split('/');
    return parts.some((_part, at) =>
      patterns.some((pattern) => path.matchesGlob(parts.slice(0, at + 1).join('/'), pattern)),
    );
  };
}
