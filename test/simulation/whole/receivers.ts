import type { MediaBackends } from '@reelgate/media/app';
import type { Draws } from './draws.ts';
import type { Faults } from './faults.ts';
import type { Scheduler } from './scheduler.ts';

type SendWebhook = MediaBackends['sendWebhook'];
type Order = Parameters<SendWebhook>[0];
type Answer = Awaited<ReturnType<SendWebhook>>;

const ANSWER_MS = { least: 5, most: 400 };
const TIMEOUT_MS = 15_000;
/** How often each fault of a receiver happens to a request, while it is on. */
const FAULTY_REQUESTS = 0.08;
const NO_ANSWER = { status: 0, retryAfterMs: 0, answerHead: new Uint8Array() };

/** The receivers of webhooks, by their addresses. */
export const RECEIVERS = [
  'https://hooks.example/one',
  'https://hooks.example/two',
  'https://hooks.test/three',
] as const;

/** A request that a receiver has taken in. */
export interface Delivery {
  readonly url: string;
  readonly accountId: string;
  /** The header `webhook-id`, which names the event. */
  readonly id: string;
  readonly body: string;
  /** True if the receiver answered with a success, and the answer arrived. */
  readonly isAnswered: boolean;
}

/** The receivers of webhooks that clients run. */
export interface Receivers {
  send(order: Order): Promise<Answer>;
}

export interface ReceiversOptions {
  readonly scheduler: Scheduler;
  readonly draws: Draws;
  readonly faults: Faults;
  readonly log: (text: string) => void;
  readonly onDelivery: (delivery: Delivery) => void;
}

/** What becomes of a request to a receiver. */
type Fate = 'taken' | 'hangs' | 'refused' | 'taken without an answer' | 'fails' | 'throttles' | 'not reached';

export function openReceivers({ scheduler, draws, faults, log, onDelivery }: ReceiversOptions): Receivers {
  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      scheduler.after(ms, scheduler.current(), resolve);
    });
  const drawFate = (name: string): Fate => {
    if (faults.happens('receiver hangs', name, FAULTY_REQUESTS)) return 'hangs';
    if (faults.happens('receiver loses answers', name, FAULTY_REQUESTS)) return 'taken without an answer';
    if (faults.happens('receiver fails', name, FAULTY_REQUESTS)) return draws.pick(`receiver ${name}`, FAILURES);
    return 'taken';
  };
  return {
    send: async ({ accountId, url, headers, body, timeoutMs }) => {
      // a delivery belongs to the request that created its task
      const name = scheduler.nameChoice(`delivery to ${url}`);
      const fate = drawFate(name);
      const begun = scheduler.now();
      const id = headers.find(({ name: one }) => one === 'webhook-id')?.value ?? '';
      const hangs = fate === 'hangs' || fate === 'taken without an answer';
      const answerMs = draws.whole(`receiver ${name} ms`, ANSWER_MS.least, ANSWER_MS.most);
      await wait(answerMs);
      log(`${url} ${fate}: ${id}`);
      if (fate === 'taken' || fate === 'taken without an answer')
        onDelivery({ url, accountId, id, body: Buffer.from(body).toString(), isAnswered: fate === 'taken' });
      if (hangs) await wait((Number(timeoutMs) || TIMEOUT_MS) - answerMs);
      return { ...ANSWERS[fate], durationMs: scheduler.now() - begun };
    },
  };
}

const FAILURES: readonly Fate[] = ['refused', 'fails', 'throttles', 'not reached'];

const ANSWERS: Readonly<Record<Fate, Omit<Answer, 'durationMs'>>> = {
  taken: { ...NO_ANSWER, status: 200, fault: undefined },
  hangs: { ...NO_ANSWER, fault: 'timeout' },
  'taken without an answer': { ...NO_ANSWER, fault: 'timeout' },
  refused: { ...NO_ANSWER, status: 410, fault: undefined },
  fails: { ...NO_ANSWER, status: 500, fault: undefined },
  throttles: { ...NO_ANSWER, status: 429, retryAfterMs: 2000, fault: undefined },
  'not reached': { ...NO_ANSWER, fault: 'not_reached' },
};
