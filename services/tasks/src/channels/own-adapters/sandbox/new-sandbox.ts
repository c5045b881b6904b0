import { Worker } from 'node:worker_threads';
import type { Json } from '@reelgate/adapter-kit';
import { readObject } from '@reelgate/adapter-kit/kit';
import { systemClock } from '@reelgate/platform/clock';
import type { Sleeper } from '@reelgate/platform/clock';
import { readPlainJson } from '../results/shapes.ts';
import type { Question, ThreadAdapter, ThreadReport } from './adapter-thread.ts';
import { allowMoreMs } from './sandbox-bounds.ts';

const WATCH_MS = 100;
/** From the start of a thread until it can answer, on a busy machine. */
const START_MS_MAX = 15_000;
/** A thread that is silent for longer is stopped. Inside the engine, processor time has a much shorter bound. */
const SILENT_MS_MAX = 2000;
/** Before the start that follows the second stop in a row, and twice as long before each further one. */
const PAUSE_MS = 100;
const PAUSE_MS_MAX = 10_000;
/** The bounds on the heap of V8 in a thread. The memory of the engine is additional. */
const HEAP_MIB = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 4 };
const REASON_CHARS_MAX = 4096;

/** Names the file and line of an adapter that cannot be loaded, and the reason. */
export class OwnAdapterFault extends Error {
  override readonly name = 'OwnAdapterFault';

  constructor(file: string, line: number, reason: string) {
    super(`${file}:${line}: ${reason}`);
  }
}

/** An adapter in a thread of its own, in which an engine runs it. Only JSON texts cross the border. */
export interface AdapterSandbox {
  /** Asks the driver. Rejects if the adapter throws, computes for too long, or cannot be loaded (`OwnAdapterFault`). */
  readonly ask: (question: object) => Promise<Json>;
  readonly close: () => Promise<void>;
}

/**
 * Opens the sandbox of an adapter. Its thread starts with the first question. A question that a thread does not answer in
 * time ends with that thread, and the next thread gets those behind it: a question is a pure computation, so it can be
 * asked again. Threads that end so one after another start ever later.
 */
export function newSandbox(adapter: ThreadAdapter, clock: Sleeper = systemClock): AdapterSandbox {
  const questions = newQuestions<Json>();
  let thread: AdapterThread | undefined;
  let [isWatched, failuresInARow, pausedMs] = [false, 0, 0];

  const drop = async (): Promise<void> => {
    const dropped = thread;
    thread = undefined;
    await dropped?.end();
  };
  const fail = (error: Error): void => {
    failuresInARow += 1;
    pausedMs = failuresInARow < 2 ? 0 : Math.min(PAUSE_MS * 2 ** (failuresInARow - 2), PAUSE_MS_MAX);
    if (error instanceof OwnAdapterFault) questions.answerAll(error);
    else questions.answer(questions.oldest()?.id ?? 0, error);
    void drop();
  };
  const receive = (said: ThreadReport): void => {
    if (said.kind === 'unloadable') fail(new OwnAdapterFault(adapter.file, said.line, said.reason));
    else if (said.kind === 'ready') for (const question of questions.list()) thread?.ask(question);
    else if (said.kind === 'idle') void (questions.oldest() === undefined && drop());
    else {
      const answer = readAnswer(said);
      if (!(answer instanceof Error)) failuresInARow = 0;
      questions.answer(said.id, answer);
      if (said.isSpent) void drop();
    }
  };
  /** Starts a thread if no thread runs, and stops a silent thread, for as long as questions wait. */
  const watch = async (): Promise<void> => {
    if (isWatched) return;
    isWatched = true;
    for (let oldest = questions.oldest(); oldest !== undefined; oldest = questions.oldest()) {
      if (thread === undefined && pausedMs <= 0) thread = startThread(adapter, receive, fail);
      await clock.sleep(WATCH_MS);
      pausedMs -= WATCH_MS;
      questions.wait(WATCH_MS);
      const late = thread?.countSilence(WATCH_MS, oldest);
      if (late !== undefined) fail(new Error(late));
    }
    isWatched = false;
  };
  return {
    ask: (asked) =>
      questions.ask(JSON.stringify(asked), (question) => {
        if (thread?.isReady() === true) thread.ask(question);
        void watch();
      }),
    close: async () => {
      questions.answerAll(new Error('was closed'));
      await drop();
    },
  };
}

interface AdapterThread {
  readonly isReady: () => boolean;
  readonly ask: (question: Question) => void;
  /** Returns why the thread has to be stopped, if it sent no message while the question waited. */
  readonly countSilence: (ms: number, oldest: Question) => string | undefined;
  /** Ends the thread. Later messages of it are ignored. */
  readonly end: () => Promise<void>;
}

/** Starts the thread of an adapter. It keeps no process alive, and has no variable of the environment. */
function startThread(
  adapter: ThreadAdapter,
  receive: (said: ThreadReport) => void,
  fail: (error: Error) => void,
): AdapterThread {
  const worker = new Worker(new URL('./adapter-thread.ts', import.meta.url), {
    name: 'adapter',
    workerData: adapter,
    env: {},
    resourceLimits: HEAP_MIB,
  });
  worker.unref();
  let [isReady, silentMs] = [false, 0];
  worker.on('message', (said: ThreadReport) => {
    silentMs = 0;
    isReady ||= said.kind === 'ready';
    receive(said);
  });
  worker.on('error', () => fail(new Error('broke its engine, and was stopped')));
  worker.on('exit', () => fail(new Error('ended its thread')));
  return {
    isReady: () => isReady,
    ask: ({ id, text }) => worker.postMessage({ id, text }),
    countSilence: (ms, { text }) => {
      silentMs += ms;
      const most = isReady ? SILENT_MS_MAX + allowMoreMs(text.length) : START_MS_MAX;
      if (silentMs <= most) return undefined;
      return isReady ? 'does not answer in time, and was stopped' : 'does not start in time, and was stopped';
    },
    end: async () => {
      worker.removeAllListeners();
      // an error after the last word is no error of ours
      worker.on('error', () => undefined);
      await worker.terminate();
    },
  };
}

/** Reads a message of a thread. Returns an error if the adapter threw, or answered with a value that is not allowed. */
function readAnswer({ text = '', fault }: Extract<ThreadReport, { kind: 'answer' }>): Json | Error {
  if (fault !== undefined) return new Error(fault);
  try {
    const answer = readObject(readPlainJson(text));
    return typeof answer['thrown'] === 'string' ? new Error(answer['thrown'].slice(0, REASON_CHARS_MAX)) : answer;
  } catch (error) {
    return error as Error;
  }
}

/** From a question to its answer, with the questions before it and starts of the thread between. */
const ANSWER_MS_MAX = 20_000;
const WAITING_MAX = 1024;

/** The questions that wait for their answers, oldest first. */
interface Questions<Answer> {
  /** Adds a question, and announces it. Rejects if the answer is an error, if it is late, or if too many wait. */
  ask(text: string, announce: (question: Question) => void): Promise<Answer>;
  /** Answers a question. One that is no longer waited for is passed over. */
  answer(id: number, answer: Answer | Error): void;
  answerAll(error: Error): void;
  /** Gives up the questions that have waited too long by now. */
  wait(ms: number): void;
  list(): readonly Question[];
  oldest(): Question | undefined;
}

interface OpenQuestion<Answer> extends Question {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
  waitedMs: number;
}

function newQuestions<Answer>(): Questions<Answer> {
  const waiting = new Map<number, OpenQuestion<Answer>>();
  let newest = 0;
  const answer = (id: number, said: Answer | Error): void => {
    const one = waiting.get(id);
    waiting.delete(id);
    if (said instanceof Error) one?.reject(said);
    else one?.resolve(said);
  };
  return {
    ask: (text, announce) =>
      new Promise((resolve, reject) => {
        if (waiting.size >= WAITING_MAX) {
          reject(new Error(`has ${WAITING_MAX} questions to answer before this one`));
          return;
        }
        const question = { id: (newest += 1), text, resolve, reject, waitedMs: 0 };
        waiting.set(question.id, question);
        announce(question);
      }),
    answer,
    answerAll: (error) => {
      for (const id of [...waiting.keys()]) answer(id, error);
    },
    wait: (ms) => {
      for (const one of waiting.values())
        if ((one.waitedMs += ms) > ANSWER_MS_MAX) answer(one.id, new Error('does not answer in time'));
    },
    list: () => [...waiting.values()],
    oldest: () => waiting.values().next().value,
  };
}
