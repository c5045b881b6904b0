import { isRecent } from '../clock.ts';
import type { Clock } from '../clock.ts';

/**
 * The maximum number of callers of a peer with remembered faults. The caller that has been known for longest is
 * forgotten first.
 */
const CALLERS_MAX = 1000;

/** The part of a circuit that stops the calls of one caller: its own faults in a row, seen by this process. */
export interface OwnCircuits {
  isOpen(caller: string): boolean;
  isAnyOpen(): boolean;
  isAnyKnown(): boolean;
  /**
   * Reports whether this caller may start a call: any number, or one at a time once its circuit has opened. With
   * `isAnyway` also while it is open.
   */
  mayTry(caller: string, isAnyway: boolean): boolean;
  /** `isTrial`: the circuit of all callers is not closed, so one fault is enough. */
  failed(caller: string, isTrial: boolean): void;
  readonly undecided: (caller?: string) => void;
  forget(caller: string): void;
  clear(): void;
}

interface Own {
  faults: number;
  openedAt: number;
  triedAt: number;
}

/** `faultsToOpen`, `openMs`: the bounds of the circuit of all callers. */
export function newOwnCircuits(
  clock: Clock,
  { faultsToOpen, openMs }: { readonly faultsToOpen: number; readonly openMs: number },
): OwnCircuits {
  const known = new Map<string, Own>();
  const isOpen = (caller: string): boolean => isRecent(clock, known.get(caller)?.openedAt ?? -Infinity, openMs);
  return {
    isOpen,
    isAnyOpen: () => known.values().some(({ faults }) => faults >= faultsToOpen),
    isAnyKnown: () => known.size > 0,
    mayTry: (caller, isAnyway) => {
      if (!isAnyway && isOpen(caller)) return false;
      const own = known.get(caller);
      if (own === undefined || own.faults < faultsToOpen) return true;
      if (isRecent(clock, own.triedAt, openMs)) return false;
      own.triedAt = clock.now();
      return true;
    },
    failed: (caller, isTrial) => {
      const own = known.get(caller) ?? { faults: 0, openedAt: -Infinity, triedAt: -Infinity };
      own.faults += 1;
      own.triedAt = -Infinity;
      if (isTrial || own.faults >= faultsToOpen) own.openedAt = clock.now();
      known.set(caller, own);
      const [oldest] = known.size > CALLERS_MAX ? known.keys() : [];
      if (oldest !== undefined) known.delete(oldest);
    },
    undecided: (caller = '') => {
      const own = known.get(caller);
      if (own !== undefined) own.triedAt = -Infinity;
    },
    forget: (caller) => {
      known.delete(caller);
    },
    clear: () => known.clear(),
  };
}
