/** From a question to its answer, with the questions before it and starts of the thread between. */
const ANSWER_MS_MAX = 20_000;
const WAITING_MAX = 1024;

export interface Question {
  readonly id: number;
  readonly text: string;
}

/** The questions that wait for their answers, oldest first. */
export interface Questions<Answer> {
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

export function newQuestions<Answer>(): Questions<Answer> {
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
