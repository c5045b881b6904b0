import { readFileSync } from 'node:fs';
import path from 'node:path';

export const ROOT = path.join(import.meta.dirname, '../..');
const DOCKERFILE = path.join(ROOT, 'deploy/image/Dockerfile');
export const DOCKERIGNORE = `${DOCKERFILE}.dockerignore`;

/** A COPY from the repository. */
export interface ContextCopy {
  readonly sources: readonly string[];
  /** An absolute path in the image; with a slash at its end it is a folder that takes files. */
  readonly target: string;
}

/** What a stage of the Dockerfile says about its file system and the start of its programs. */
export interface ImageDescription {
  /** Those of the stages that it copies from are among them. */
  readonly copies: readonly ContextCopy[];
  readonly environment: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly user: string;
  readonly folder: string;
}

type Stage = { -readonly [Key in keyof ImageDescription]: ImageDescription[Key] };

const EMPTY: ImageDescription = {
  copies: [],
  environment: {},
  entrypoint: [],
  command: [],
  user: '',
  folder: '/',
};

/** Reads the instructions up to the last stage, and describes it. An instruction that it does not know is an error. */
export function readDockerfile(text: string = readFileSync(DOCKERFILE, 'utf8')): ImageDescription {
  const instructions = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const stages = new Map<string, Stage>();
  let stage: Stage = { ...EMPTY };
  for (const line of instructions) {
    const [, base = '', name = ''] = /^FROM\s+(\S+)(?:\s+AS\s+(\S+))?$/.exec(line) ?? [];
    if (base === '') readInstruction(line.trim(), stage, stages);
    else {
      stage = { ...(stages.get(base) ?? EMPTY) };
      stages.set(name, stage);
    }
  }
  return stage;
}

/** Instructions without an effect on the files and the start of a program; each RUN is done by build-root. */
const WITHOUT_EFFECT = ['ARG', 'LABEL', 'EXPOSE', 'RUN'];

function readInstruction(line: string, into: Stage, stages: ReadonlyMap<string, Stage>): void {
  const [, name = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
  if (name === 'COPY') into.copies = [...into.copies, ...copiesOf(rest, into.folder, stages)];
  else if (name === 'ENV') into.environment = { ...into.environment, ...assignments(rest) };
  else if (name === 'ENTRYPOINT') into.entrypoint = JSON.parse(rest) as string[];
  else if (name === 'CMD') into.command = JSON.parse(rest) as string[];
  else if (name === 'USER') into.user = rest;
  else if (name === 'WORKDIR') into.folder = rest;
  else if (!WITHOUT_EFFECT.includes(name)) throw new Error(`the Dockerfile has an unknown instruction: ${line}`);
}

function copiesOf(rest: string, folder: string, stages: ReadonlyMap<string, Stage>): readonly ContextCopy[] {
  const [, from, paths = ''] = /^(?:--from=(\S+)\s+)?(.*)$/.exec(rest) ?? [];
  const words = paths.split(/\s+/);
  const target = absolute(folder, words.pop() ?? '');
  if (from === undefined) return [{ sources: words, target }];
  return words.flatMap((source) => copiesWithin(stages.get(from)?.copies ?? [], source, target));
}

/** What another stage took from the repository into the folder that is copied. */
function copiesWithin(copies: readonly ContextCopy[], folder: string, target: string): readonly ContextCopy[] {
  return copies
    .filter((copy) => !path.relative(folder, copy.target).startsWith('..'))
    .map((copy) => ({
      ...copy,
      target: absolute(target, `./${path.relative(folder, copy.target)}${slashOf(copy.target)}`),
    }));
}

const slashOf = (target: string): string => (target.endsWith('/') ? '/' : '');

const absolute = (folder: string, target: string): string => {
  const resolved = path.resolve(folder, target);
  return resolved === '/' ? resolved : `${resolved}${slashOf(target)}`;
};

function assignments(rest: string): Record<string, string> {
  return Object.fromEntries(rest.split(/\s+/).map((pair) => pair.split('=', 2) as [string, string]));
}
