import { useRef, useState } from 'preact/hooks';
import { go } from '../../../state/address.ts';
import { ApiError, api } from '../../../state/api.ts';

export interface CreateForm {
  readonly isBusy: boolean;
  readonly fault: ApiError | undefined;
  readonly create: (body: object) => void;
  /** The form is another one now: an old refusal says nothing about it. */
  readonly forget: () => void;
}

/**
 * Creates a task and goes to its page. The same form makes one task, however often it is sent: a double click is one
 * call, and a retry has the same key. A changed form is another order.
 */
export function useCreate(): CreateForm {
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<ApiError | undefined>(undefined);
  const sent = useRef({ text: '', key: '', isRunning: false });
  const create = async (body: object): Promise<void> => {
    const { current } = sent;
    if (current.isRunning) return;
    const text = JSON.stringify(body);
    if (current.text !== text) Object.assign(current, { text, key: crypto.randomUUID() });
    current.isRunning = true;
    setBusy(true);
    setFault(undefined);
    try {
      const { id } = await api<{ readonly id: string }>('/v1/video/generations', {
        method: 'POST',
        body,
        headers: { 'idempotency-key': current.key },
      });
      go(`/console/tasks/${encodeURIComponent(id)}`);
    } catch (error) {
      setFault(error instanceof ApiError ? error : undefined);
    } finally {
      current.isRunning = false;
      setBusy(false);
    }
  };
  return {
    isBusy,
    fault,
    create: (body) => void create(body),
    forget: () => {
      setFault(undefined);
    },
  };
}
