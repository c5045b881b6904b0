import { readFileSync } from 'node:fs';
import path from 'node:path';

export const ROOT = path.join(import.meta.dirname, '../..');
const DOCKERFILE = path.join(ROOT, 'deploy/image/Dockerfile');
export const DOCKERIGNORE = `${DOCKERFILE}.dockerignore`;

/** A COPY of the last stage from the repository. */
export interface ContextCopy {
  readonly sources: readonly string[];
  /** An absolute path in the image; with a slash at its end it is a folder that takes files. */
  readonly target: string;
}

/** What the last stage of the Dockerfile says about the image. */
export interface ImageDescription {
  readonly copies: readonly ContextCopy[];
  readonly environment: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly user: string;
  readonly folder: string;
}

/** Reads the instructions of the last stage. An instruction that it does not know is an error. */
export function readDockerfile(text: string = readFileSync(DOCKERFILE, 'utf8')): ImageDescription {
  const instructions = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const last = instructions.slice(instructions.findLastIndex((line) => line.startsWith('FROM ')) + 1);
  const read = { copies: [] as ContextCopy[], environment: {}, entrypoint: [], command: [], user: '', folder: '/' };
  for (const line of last) readInstruction(line.trim(), read);
  return read;
}

type Reading = { -readonly [Key in keyof ImageDescription]: ImageDescription[Key] } & { copies: ContextCopy[] };

/** Instructions without an effect on the files and the start of a program; the RUN of the last stage is build-root's. */
const WITHOUT_EFFECT = ['ARG', 'LABEL', 'EXPOSE', 'RUN'];

function readInstruction(line: string, into: Reading): void {
  const [, name = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
  if (name === 'COPY') {
    if (!rest.startsWith('--from=')) into.copies.push(copyOf(rest, into.folder));
  } else if (name === 'ENV') into.environment = { ...into.environment, ...assignments(rest) };
  else if (name === 'ENTRYPOINT') into.entrypoint = JSON.parse(rest) as string[];
  else if (name === 'CMD') into.command = JSON.parse(rest) as string[];
  else if (name === 'USER') into.user = rest;
  else if (name === 'WORKDIR') into.folder = rest;
  else if (!WITHOUT_EFFECT.includes(name)) throw new Error(`the Dockerfile has an unknown instruction: ${line}`);
}

function copyOf(rest: string, folder: string): ContextCopy {
  const words = rest.split(/\s+/);
  const target = words.pop() ?? '';
  const absolute = path.resolve(folder, target);
  return { sources: words, target: target.endsWith('/') ? `${absolute}/` : absolute };
}

function assignments(rest: string): Record<string, string> {
  return Object.fromEntries(rest.split(/\s+/).map((pair) => pair.split('=', 2) as [string, string]));
}
