import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findNameFault } from './adapter-name.ts';

const KIT = path.join(import.meta.dirname, '../../../adapter-kit');
const EXAMPLE = 'borealis';
const EXAMPLE_FOLDER = './adapters/';
/** The ending of a TypeScript file of the kit as text. The image holds JavaScript, and that text next to it. */
const TEXT = import.meta.filename.endsWith('.ts') ? '' : '.txt';
/** The types of the kit, for an editor that knows no package of this repository. */
const TYPES: readonly (readonly [specifier: string, file: string])[] = [
  ['@reelgate/adapter-kit', 'adapter.ts'],
  ['@reelgate/adapter-kit/kit', 'kit.ts'],
];
const TYPES_FOLDER = 'adapter-kit';

export interface WrittenAdapter {
  /** The paths of files in the folder. */
  readonly written: readonly string[];
  /** Files that were there before. */
  readonly kept: readonly string[];
}

/** Writes a working adapter into a folder, from the example of the kit. Never changes a file that is there. */
export function writeOwnAdapter(folder: string, name: string): WrittenAdapter {
  const fault = findNameFault(name) ?? findTaken(folder, name);
  if (fault !== undefined) throw new Error(fault);
  const files = [...listAdapterFiles(name), ...listFolderFiles(path.basename(folder), name)];
  const written: string[] = [];
  const kept: string[] = [];
  for (const { file, text } of files) (writeNew(path.join(folder, file), text) ? written : kept).push(file);
  return { written, kept };
}

function findTaken(folder: string, name: string): string | undefined {
  const taken = [`${name}.ts`, `${name}.fixtures`].find((file) => existsSync(path.join(folder, file)));
  return taken === undefined
    ? undefined
    : `${path.join(folder, taken)} is already there; expected another name, or another folder`;
}

interface TextFile {
  readonly file: string;
  readonly text: string;
}

function listAdapterFiles(name: string): readonly TextFile[] {
  const fixtures = `example/${EXAMPLE}.fixtures`;
  const toOwn = (text: string): string => text.replaceAll(EXAMPLE, name);
  return [
    { file: `${name}.ts`, text: pointAtTypes(toOwn(readKit(`example/${EXAMPLE}.ts${TEXT}`))) },
    ...readdirSync(path.join(KIT, fixtures))
      .toSorted()
      .map((file) => ({ file: path.join(`${name}.fixtures`, file), text: toOwn(readKit(`${fixtures}/${file}`)) })),
  ];
}

/** The files that the adapters of one folder share. */
function listFolderFiles(folder: string, name: string): readonly TextFile[] {
  const page = readKit('template/own-adapter.md').replaceAll(EXAMPLE_FOLDER, () => `./${folder}/`);
  return [
    ...TYPES.map(([, file]) => ({ file: path.join(TYPES_FOLDER, file), text: readKit(`${file}${TEXT}`) })),
    { file: 'README.md', text: page.replaceAll(EXAMPLE, name) },
  ];
}

function readKit(file: string): string {
  return readFileSync(path.join(KIT, file), 'utf8');
}

/** Replaces the packages from which an adapter takes its types by the files next to it. */
function pointAtTypes(text: string): string {
  return TYPES.reduce(
    (pointed, [specifier, file]) => pointed.replaceAll(`'${specifier}'`, `'./${TYPES_FOLDER}/${file}'`),
    text,
  );
}

/** Writes a file unless there is one. Returns whether it wrote. */
function writeNew(file: string, text: string): boolean {
  mkdirSync(path.dirname(file), { recursive: true });
  try {
    writeFileSync(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
