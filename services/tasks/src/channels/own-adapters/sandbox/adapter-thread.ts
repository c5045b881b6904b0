/*
 * The thread of one adapter. It turns the adapter into JavaScript, opens an engine for it, and answers what it is asked,
 * in that order. It ends by itself with an exception if the engine breaks.
 */
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { constants, setPriority } from 'node:os';
import path from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '@reelgate/platform/clock';
import { EngineFault, createEngine } from './engine.ts';
import type { Engine } from './engine.ts';
import { KEPT_BYTES_MAX } from './sandbox-bounds.ts';

/** A message to a thread: a question for the driver of its adapter. */
export interface Question {
  readonly id: number;
  readonly text: string;
}

/** A message of a thread. `id` is the id of a question. */
export type ThreadReport =
  | { readonly kind: 'ready' }
  /** Nothing was asked for a while. */
  | { readonly kind: 'idle' }
  | { readonly kind: 'unloadable'; readonly line: number; readonly reason: string }
  | {
      readonly kind: 'answer';
      readonly id: number;
      readonly text?: string;
      readonly fault?: string;
      /** True if the engine holds so much memory that a new thread has to take over. */
      readonly isSpent: boolean;
    };

/** The adapter that a thread is started with. */
export interface ThreadAdapter {
  readonly file: string;
  readonly text: string;
}

/** A thread without questions is ended after twice this time at most. The next question starts another one. */
const IDLE_MS = 120_000;

const KIT = path.join(import.meta.dirname, '../../../../adapter-kit');
/** The kit has the ending of this file: the image holds JavaScript. */
const ENDING = path.extname(import.meta.filename);
const KIT_FILES: readonly string[] = [`kit${ENDING}`, `v2-usage${ENDING}`];

function readKit(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    KIT_FILES.map((name) => [name, stripTypes(readFileSync(path.join(KIT, name), 'utf8'), name)]),
  );
}

/** Removes the types of a TypeScript text. Every other character keeps its place. */
function stripTypes(text: string, file: string): string {
  if (!file.endsWith('.ts')) return text;
  try {
    return stripTypeScriptTypes(text, { mode: 'strip' });
  } catch (error) {
    throw new EngineFault(`is not TypeScript with types alone: ${(error as Error).message}`);
  }
}

function report(said: ThreadReport): void {
  parentPort?.postMessage(said);
}

async function loadAdapter({ file, text }: ThreadAdapter): Promise<Engine | undefined> {
  try {
    return await createEngine({ kit: readKit(), file, code: stripTypes(text, file) });
  } catch (error) {
    if (!(error instanceof EngineFault)) throw error;
    report({ kind: 'unloadable', line: error.line, reason: error.message });
    return undefined;
  }
}

function answer(engine: Engine, { id, text }: Question): void {
  const said = driveSafely(engine, text);
  report({ kind: 'answer', id, ...said, isSpent: engine.heldBytes() > KEPT_BYTES_MAX });
}

function driveSafely(engine: Engine, text: string): { readonly text: string } | { readonly fault: string } {
  try {
    return { text: engine.drive(text) };
  } catch (error) {
    if (!(error instanceof EngineFault)) throw error;
    return { fault: error.message };
  }
}

/** Lets the rest of the program go first. Linux changes the calling thread, other systems the whole process. */
function lowerPriority(): void {
  if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
}

lowerPriority();
const engine = await loadAdapter(workerData as ThreadAdapter);
if (engine !== undefined) {
  let asked = 0;
  parentPort?.on('message', (question: Question) => {
    asked += 1;
    answer(engine, question);
  });
  report({ kind: 'ready' });
  for (let seen = -1; ; seen = asked) {
    if (seen === asked) report({ kind: 'idle' });
    await systemClock.sleep(IDLE_MS);
  }
}
