import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/** The sources of the pages. In the image they are JavaScript already. */
const FOLDER = path.join(import.meta.dirname, '../../../console');
const PATTERN = '**/*.{ts,js,css,svg}';
const NO_SOURCE = /\.test\.[jt]s$|(^|\/)(api|testing)\/|tsconfig/;

const require = createRequire(import.meta.url);

/** The packages that pages import by name, each as one module of the browser. */
export const PACKAGES: Readonly<Record<string, { readonly file: string; readonly module: () => string }>> = {
  preact: { file: 'packages/preact.js', module: () => readPackageFile('preact/package.json', 'dist/preact.mjs') },
  'preact/hooks': {
    file: 'packages/preact-hooks.js',
    module: () => readPackageFile('preact/package.json', 'hooks/dist/hooks.mjs'),
  },
  htm: { file: 'packages/htm.js', module: () => readPackageFile('htm', 'htm.mjs') },
};

export interface SourceFile {
  /** Below the address of the assets. */
  readonly path: string;
  readonly text: string;
}

/** Everything that the browser can ask for. */
export function consoleFiles(): readonly SourceFile[] {
  const own = globSync(PATTERN, { cwd: FOLDER })
    .map((file) => file.split(path.sep).join('/'))
    .filter((file) => !NO_SOURCE.test(file))
    .toSorted()
    .map((file) => ({ path: file, text: readFileSync(path.join(FOLDER, file), 'utf8') }));
  const packages = Object.values(PACKAGES).map(({ file, module }) => ({ path: file, text: module() }));
  return [...own, ...packages];
}

/** A file of a package, by its path from one that the package exports. */
function readPackageFile(exported: string, file: string): string {
  const folder = path.dirname(require.resolve(exported));
  return readFileSync(path.join(folder, file), 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '');
}
