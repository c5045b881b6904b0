import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** A relative specifier of a TypeScript file. That of a `.ts` file keeps its length, so columns stay. */
const SPECIFIER = /(?<=(['"])\.{1,2}\/[^'"\n]*\.)tsx?(?=\1)/g;
const OWN = '{services,deploy,proto}/**/';
/** The TypeScript that operators get from `reelgate adapter new`. It stays as text beside the code. */
const HANDED_OUT = /(^|\/)adapter-kit\/.*\.ts$/;

/** The pages of the console, and the module that transforms them for browsers. */
const PAGES = 'services/gateway/console';
const TRANSFORM = 'services/gateway/src/console-server/assets/transform-sources.ts';

interface Transform {
  readonly transformSources: (
    folder: string,
    files: readonly string[],
  ) => Promise<readonly { readonly path: string; readonly text: string }[]>;
}

/**
 * Turns every TypeScript file of a folder into a JavaScript file with the same lines and columns, and removes the
 * TypeScript file. A stack trace names the TypeScript file, as it does where Node runs the sources. `place` is the
 * folder where programs will find the files. Pages are transformed for browsers here, so the gateway need not do it.
 */
async function stripTypes(root: string, place: string): Promise<void> {
  await transformPages(root);
  for (const file of listOwnFiles(root, '*.ts')) {
    const source = path.join(root, file);
    const sourceUrl = pathToFileURL(path.join(place, file)).href;
    const code = stripTypeScriptTypes(readFileSync(source, 'utf8'), { mode: 'strip', sourceUrl });
    writeFileSync(toScriptPath(source), code.replaceAll(SPECIFIER, 'js'));
    if (HANDED_OUT.test(file)) renameSync(source, `${source}.txt`);
    else rmSync(source);
  }
  for (const file of listOwnFiles(root, 'package.json')) {
    const manifest = path.join(root, file);
    writeFileSync(manifest, readFileSync(manifest, 'utf8').replaceAll('.ts"', '.js"'));
  }
  assertWhole(root);
}

async function transformPages(root: string): Promise<void> {
  const folder = path.join(root, PAGES);
  const { transformSources } = (await import(pathToFileURL(path.join(root, TRANSFORM)).href)) as Transform;
  const files = globSync('**/*.{ts,tsx,css}', { cwd: folder });
  for (const { path: file, text } of await transformSources(folder, files)) {
    const source = path.join(folder, file);
    rmSync(source);
    writeFileSync(toScriptPath(source), text.replaceAll(SPECIFIER, 'js'));
  }
}

const toScriptPath = (source: string): string => source.replace(/\.tsx?$/, '.js');

const listOwnFiles = (root: string, pattern: string): readonly string[] =>
  globSync(OWN + pattern, {
    cwd: root,
    exclude: (name) => name.split(path.sep).includes('node_modules') || name.endsWith('.d.ts'),
  });

/** Checks that each file exists that a module names by a relative path. */
function assertWhole(root: string): void {
  for (const file of listOwnFiles(root, '*.js')) {
    for (const [, named = ''] of readFileSync(path.join(root, file), 'utf8').matchAll(
      /['"](\.{1,2}\/[^'"\n]*\.js)['"]/g,
    ))
      if (!existsSync(path.join(root, path.dirname(file), named))) throw new Error(`${file}: no file ${named}`);
  }
}

const [root, place = root] = process.argv.slice(2);
if (root === undefined || place === undefined) throw new Error('usage: node strip-types.ts FOLDER [PLACE]');
await stripTypes(root, place);
