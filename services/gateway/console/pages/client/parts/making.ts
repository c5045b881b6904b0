import { useEffect, useRef, useState } from 'preact/hooks';
import type { Order } from './try-order.ts';
import type { TaskList } from '../../../api/tasks.ts';
import { go } from '../../../state/address.ts';
import { ApiError, api, newRequestKey } from '../../../state/api.ts';
import { useMe } from '../../../state/door.ts';
import { readKept, readSession, writeKept } from '../../../state/kept-values.ts';

/** More videos than this are the work of a program. */
export const VIDEOS_MAX = 50;
/** Larger bodies, such as those with files, are not kept over a reload. */
const KEPT_CHARACTERS_MAX = 200_000;
const KEPT = 'makings';

/**
 * The state of one create. `sent`: its answer is not there yet. `lost`: it may have been made; the same key
 * asks again, and never makes a second one.
 */
export type MakingState = 'ready' | 'sent' | 'made' | 'refused' | 'lost';

/** A create of a list, with the key under which it takes effect once. */
export interface FormCreate {
  readonly key: string;
  readonly prompt: string;
  /** Is lost with a reload of the page if it had files. */
  readonly body: Order | undefined;
  /** The label of the task. By default, the task gets the label of the token. */
  readonly label?: string;
  readonly state: MakingState;
  readonly taskId?: string;
  /** The reason of its refusal. */
  readonly message?: string;
}

/** The number of videos that a form creates. */
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

/** Reads the number of videos of each prompt; undefined if it is no whole number within its bounds. */
export function readCopies(typed: string): number | undefined {
  const copies = Number(typed);
  return Number.isInteger(copies) && copies >= 1 && copies <= VIDEOS_MAX ? copies : undefined;
}

/** The bodies of the creates of a form, and their label, which may be empty. */
export interface MakingOrder {
  readonly bodies: readonly Order[];
  readonly label: string;
}

/** The creates of a form: the current ones and the earlier ones. */
export interface PlannedMakings {
  /** The creates of the form before it was changed. The page shows them and never sends them again. */
  readonly earlier: readonly FormCreate[];
  /** One create for each body. A repeated create keeps its key, and its video if it has one. */
  readonly planned: readonly FormCreate[];
}

/** Plans a create for each body. A body that has a video already is not sent again. */
export function planMakings(
  before: readonly FormCreate[],
  { bodies, label }: MakingOrder,
  newKey: () => string,
): PlannedMakings {
  const left = [...before];
  const labelled = label === '' ? {} : { label };
  const planned = bodies.map((body): FormCreate => {
    const at = left.findIndex((one) => one.body !== undefined && isSameJson(one.body, body));
    const [known] = at < 0 ? [] : left.splice(at, 1);
    if (known === undefined) return { key: newKey(), prompt: readPromptText(body), body, ...labelled, state: 'ready' };
    const { label: _before, ...more } = known;
    return known.state === 'made' ? known : { ...more, ...labelled };
  });
  return { earlier: left.filter(mayHaveMade).slice(-VIDEOS_MAX), planned };
}

/** Counts the bodies without a create. */
export function countRest(before: readonly FormCreate[], bodies: readonly Order[]): number {
  if (before.every(({ state }) => state !== 'made')) return bodies.length;
  const { planned } = planMakings(before, { bodies, label: '' }, () => '');
  return planned.filter(({ state }) => state !== 'made').length;
}

function mayHaveMade({ state }: FormCreate): boolean {
  return state !== 'refused' && state !== 'ready';
}

/** Compares by members, because a text of many megabytes that is the same one is found so at once. */
function isSameJson(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
  const [names, others] = [Object.keys(one), Object.keys(other)];
  return (
    names.length === others.length &&
    Array.isArray(one) === Array.isArray(other) &&
    names.every((name) => isSameJson((one as Order)[name], (other as Order)[name]))
  );
}

/** The creates as the browser keeps them. After a reload no answer comes any more. */
export function keepMakings(makings: readonly FormCreate[]): readonly FormCreate[] {
  const kept = makings.map((one) => (one.state === 'sent' ? { ...one, state: 'lost' as const } : one));
  if (JSON.stringify(kept).length <= KEPT_CHARACTERS_MAX) return kept;
  return kept.map((one) => ({ ...one, body: undefined }));
}

/** Reports whether a refusal rules out that a video was created. Any other fault leaves it open. */
export function isRefusal({ status }: { readonly status: number }): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 409;
}

function readPromptText({ prompt }: Order): string {
  return typeof prompt === 'string' ? prompt : '';
}

interface MakingForm {
  /** All creates, the earlier ones first. */
  readonly makings: readonly FormCreate[];
  readonly isBusy: boolean;
  /** The refusal of a single create. */
  readonly fault: ApiError | undefined;
  /** Sends the creates that have no video yet, one after the other. A repeat uses the same keys. */
  readonly make: (order: MakingOrder) => void;
  /** Looks up the creates without an answer. It does not send a create. */
  readonly askAgain: () => void;
  /** Forgets the creates, so that the same form can create the videos again. */
  readonly beginAnew: () => void;
  /** Forgets an old refusal, because the form has changed. */
  readonly forget: () => void;
}

/**
 * Creates the videos of a form. The browser keeps the key of each create before it sends the create, so that a lost
 * answer, a reload or a lost session never makes a video twice. The list stays until the person begins anew. If the form
 * makes a single video, its page opens.
 */
export function useMaking(): MakingForm {
  const { accountId } = useMe();
  const [makings, setMakings] = useState<readonly FormCreate[]>(() => readMakings(accountId));
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<ApiError | undefined>(undefined);
  const isRunning = useRef(false);
  const isShown = useRef(true);
  useEffect(
    () => () => {
      isShown.current = false;
    },
    [],
  );

  const keep = (changed: readonly FormCreate[]): void => {
    writeKept(accountId, KEPT, keepMakings(changed));
    setMakings(changed);
  };
  const askAgain = async (): Promise<void> => {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    const found = await Promise.all(
      makings.map(async (one) => (one.state === 'lost' ? { ...one, ...(await readMade(one)) } : one)),
    );
    isRunning.current = false;
    setBusy(false);
    keep(found);
  };
  const run = async ({ earlier, planned }: PlannedMakings): Promise<void> => {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    setFault(undefined);
    const session = readSession();
    let current = planned;
    const change = (at: number, to: Partial<FormCreate>): void => {
      current = current.map((one, place) => (place === at ? { ...one, ...to } : one));
      keep([...earlier, ...current]);
    };
    for (const [at, one] of planned.entries()) {
      if (one.state === 'made') continue;
      change(at, { state: 'sent' });
      const ended = await sendMaking(one);
      // another person may be signed in by now
      if (readSession() !== session) return;
      change(at, ended.to);
      if (planned.length === 1) setFault(ended.error);
      // a person at the page decides about the rest
      if (ended.error !== undefined) break;
    }
    isRunning.current = false;
    setBusy(false);
    const [only] = current;
    if (current.length > 1 || only?.taskId === undefined) return;
    keep(earlier);
    if (isShown.current) go(`/console/tasks/${encodeURIComponent(only.taskId)}`);
  };
  useEffect(() => {
    if (makings.some(({ state }) => state === 'lost')) void askAgain();
  }, []);
  return {
    makings,
    isBusy,
    fault,
    make: (order) => void run(planMakings(makings, order, newRequestKey)),
    askAgain: () => void askAgain(),
    beginAnew: () => keep([]),
    forget: () => setFault(undefined),
  };
}

interface MakingEnd {
  readonly to: Partial<FormCreate>;
  readonly error?: ApiError;
}

/** Sends a create, or looks for its task if its body is not kept. */
async function sendMaking({ key, body, label }: FormCreate): Promise<MakingEnd> {
  try {
    if (body === undefined) return { to: await findMade(key) };
    const { id } = await api<{ readonly id: string }>('/v1/video/generations', {
      method: 'POST',
      body,
      headers: { 'idempotency-key': key, ...(label === undefined ? {} : { 'reelgate-label': label }) },
    });
    return { to: { state: 'made', taskId: id } };
  } catch (thrown) {
    const error = thrown instanceof ApiError ? thrown : undefined;
    if (error === undefined) throw thrown;
    return { to: { state: isRefusal(error) ? 'refused' : 'lost', message: error.message }, error };
  }
}

/** The task of a create that was sent before the page was loaded. */
async function findMade(key: string): Promise<Partial<FormCreate>> {
  const { tasks } = await api<TaskList>(`/tasks?find=${encodeURIComponent(key)}`);
  const [made] = tasks;
  return made === undefined ? { state: 'lost' } : { state: 'made', taskId: made.id };
}

/** A service that cannot be asked now leaves the create as it is. */
async function readMade({ key }: FormCreate): Promise<Partial<FormCreate>> {
  try {
    return await findMade(key);
  } catch {
    return {};
  }
}

function readMakings(accountId: string): readonly FormCreate[] {
  const kept = readKept(accountId, KEPT);
  return Array.isArray(kept) ? (kept as readonly FormCreate[]).filter(({ state }) => state !== 'ready') : [];
}
