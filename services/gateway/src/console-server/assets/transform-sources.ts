import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { BuildOptions } from 'esbuild';

/** Nothing is written there. */
const OUT = 'out';
const OPTIONS: BuildOptions = {
  format: 'esm',
  target: 'es2024',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  // nothing bundles the files after it, which the marks of pure calls are for
  jsxSideEffects: true,
  charset: 'utf8',
  legalComments: 'none',
  // names stay, so that a fault in a browser says where it is
  minifyWhitespace: true,
  minifySyntax: true,
  loader: { '.svg': 'copy' },
  outbase: '.',
  outdir: OUT,
  logLevel: 'silent',
};

export interface SourceFile {
  /** Below the folder of the pages, and below the address of the assets. */
  readonly path: string;
  readonly text: string;
}

/**
 * Turns each source below a folder into the file that a browser loads: JavaScript or a style, without types and
 * comments, and with the runbook in place of its name.
 */
export async function transformSources(folder: string, files: readonly string[]): Promise<readonly SourceFile[]> {
  // the image has no transform: its pages are made while it is built
  const { buildSync } = await import('esbuild');
  const { outputFiles } = buildSync({
    ...OPTIONS,
    define: { RUNBOOK: JSON.stringify(readRunbook()) },
    absWorkingDir: folder,
    entryPoints: [...files],
    write: false,
  });
  const texts = new Map(outputFiles.map((file) => [path.relative(path.join(folder, OUT), file.path), file.text]));
  return files.map((file) => {
    const text = texts.get(file.replace(/\.tsx?$/, '.js'));
    if (text === undefined) throw new Error(`nothing was made of ${file}`);
    return { path: file, text };
  });
}

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
