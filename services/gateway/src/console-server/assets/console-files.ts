import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { transformSources } from './transform-sources.ts';
import type { SourceFile } from './transform-sources.ts';

/** The sources of the pages; in the image what a browser loads of them. */
const FOLDER = path.join(import.meta.dirname, '../../../console');
const PATTERN = '**/*.{ts,tsx,js,css,svg}';
const NO_SOURCE = /\.test\.[jt]sx?$|(^|\/)(api|testing)\/|tsconfig/;
const TYPED = /\.tsx?$/;

const require = createRequire(import.meta.url);

/** The packages that pages import by name, each as one module of the browser. */
export const PACKAGES: Readonly<Record<string, { readonly file: string; readonly module: () => string }>> = {
  preact: { file: 'packages/preact.js', module: () => readPackageFile('preact/package.json', 'dist/preact.mjs') },
  'preact/hooks': {
    file: 'packages/preact-hooks.js',
    module: () => readPackageFile('preact/package.json', 'hooks/dist/hooks.mjs'),
  },
  'preact/jsx-runtime': {
    file: 'packages/preact-jsx-runtime.js',
    module: () => readPackageFile('preact/package.json', 'jsx-runtime/dist/jsxRuntime.mjs'),
  },
};

/** Everything that the browser can ask for. */
export async function consoleFiles(): Promise<readonly SourceFile[]> {
  const own = globSync(PATTERN, { cwd: FOLDER })
    .map((file) => file.split(path.sep).join('/'))
    .filter((file) => !NO_SOURCE.test(file))
    .toSorted();
  const isTyped = own.some((file) => TYPED.test(file));
  const texts = isTyped ? await transformSources(FOLDER, own) : readTexts(own);
  const packages = Object.values(PACKAGES).map(({ file, module }) => ({ path: file, text: module() }));
  return [...texts, ...packages];
}

const readTexts = (files: readonly string[]): readonly SourceFile[] =>
  files.map((file) => ({ path: file, text: readFileSync(path.join(FOLDER, file), 'utf8') }));

/** A file of a package, by its path from one that the package exports. */
function readPackageFile(exported: string, file: string): string {
  const folder = path.dirname(require.resolve(exported));
  return readFileSync(path.join(folder, file), 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '');
}
