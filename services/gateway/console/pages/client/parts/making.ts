import type { Order } from './try-order.ts';

/** More videos than this are the work of a program. */
export const VIDEOS_MAX = 50;
/** Larger bodies, such as those with files, are not kept over a reload. */
const KEPT_CHARACTERS_MAX = 200_000;

/**
 * The state of one create. `sent`: its answer is not there yet. `lost`: it may have been made; the same key
 * asks again, and never makes a second one.
 */
export type MakingState = 'ready' | 'sent' | 'made' | 'refused' | 'lost';

/** One create of several, with the key that makes it happen once. */
export interface FormCreate {
  readonly key: string;
  readonly prompt: string;
  /** Undefined: it had files, and the page was loaded again. */
  readonly body: Order | undefined;
  /** The word for the accounts of the client; absent: that of the token. */
  readonly label?: string;
  readonly state: MakingState;
  readonly taskId?: string;
  /** It was made without an answer, and its form was not sent again since. */
  readonly isUntold?: boolean;
  /** The reason of its refusal. */
  readonly message?: string;
}

/** The number of videos that a form makes. */
export interface MakingPlan {
  readonly copies: number;
  /** Each line of the prompt is a prompt of its own. */
  readonly isByLine: boolean;
}

export const ONE_VIDEO: MakingPlan = { copies: 1, isByLine: false };

/** The orders of a form, one for each video. Copies differ by their seed, so that they are not the same video. */
export function listOrders(order: Order, { copies, isByLine }: MakingPlan): readonly Order[] {
  const { prompt, seed } = order;
  const text = typeof prompt === 'string' ? prompt : '';
  const lines = isByLine ? text.split('\n').map((line) => line.trim()) : [text];
  const prompts = lines.filter((line) => !isByLine || line !== '');
  return prompts.flatMap((own) =>
    Array.from({ length: copies }, (_copy, at) => ({
      ...order,
      ...(prompt === undefined ? {} : { prompt: own }),
      ...(typeof seed === 'number' ? { seed: seed + at } : {}),
    })),
  );
}

/** The bodies of the creates of a form, and their label, which may be empty. */
export interface MakingOrder {
  readonly bodies: readonly Order[];
  readonly label: string;
}

/**
 * The creates for these bodies. If they are those that were sent before and some have no answer or were refused, they
 * go on under their keys. What was made keeps its label.
 */
export function planMakings(
  before: readonly FormCreate[],
  { bodies, label }: MakingOrder,
  newKey: () => string,
): FormCreate[] {
  const labelled = label === '' ? {} : { label };
  const isSame =
    before.length === bodies.length &&
    before.some(isOpen) &&
    before.every(({ body }, at) => JSON.stringify(body) === JSON.stringify(bodies[at]));
  if (isSame) return before.map(({ label: _before, ...one }) => ({ ...one, ...labelled }));
  return bodies.map((body) => ({ key: newKey(), prompt: readPromptText(body), body, ...labelled, state: 'ready' }));
}

/** Reports whether the form that made it may still mean the same video. */
export function isOpen({ state, isUntold = false }: FormCreate): boolean {
  return state !== 'made' || isUntold;
}

/** The creates as the browser keeps them. After a reload no answer comes any more. */
export function keepMakings(makings: readonly FormCreate[]): readonly FormCreate[] {
  const kept = makings.map((one) => (one.state === 'sent' ? { ...one, state: 'lost' as const } : one));
  if (JSON.stringify(kept).length <= KEPT_CHARACTERS_MAX) return kept;
  return kept.map((one) => ({ ...one, body: undefined }));
}

/** Reports whether a refusal says that nothing was made. Any other fault leaves it open. */
export function isRefusal({ status }: { readonly status: number }): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 409;
}

function readPromptText({ prompt }: Order): string {
  return typeof prompt === 'string' ? prompt : '';
}
