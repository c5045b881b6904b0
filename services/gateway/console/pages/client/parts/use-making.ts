import { useEffect, useRef, useState } from 'preact/hooks';
import type { TaskList } from '../../../api/tasks.ts';
import { go } from '../../../state/address.ts';
import { ApiError, api, newRequestKey } from '../../../state/api.ts';
import { useMe } from '../../../state/door.ts';
import { readKept, readSession, writeKept } from '../../../state/kept-values.ts';
import { isRefusal, keepMakings, planMakings } from './making.ts';
import type { FormCreate, MakingOrder, PlannedMakings } from './making.ts';

const KEPT = 'makings';

export interface MakingForm {
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
