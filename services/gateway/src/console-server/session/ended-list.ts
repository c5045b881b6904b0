import { isRecent } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import type { SessionRecords } from '../../clients/sessions-client.ts';
import { newKnownEndings } from './known-endings.ts';
import type { KnownEndings } from './known-endings.ts';

/** The copy of billing's list of ended sessions. */
export interface EndedList {
  readonly known: KnownEndings;
  /** Reports whether the list was asked for at most `ms` milliseconds ago. */
  isYounger(ms: number): boolean;
  /** Asks for it. Concurrent requests share one call. */
  refresh(): Promise<void>;
  /** The same with a call that begins now or later. */
  renew(): Promise<void>;
}

export function openEndedList(records: SessionRecords, clock: Clock): EndedList {
  const known = newKnownEndings();
  let askedAt: number | undefined;
  let running: Promise<void> | undefined;
  const read = async (): Promise<void> => {
    const [at, since] = [clock.now(), known.version()];
    const list = await records.listEnded(since);
    // billing has an older database than before, so what ended in it until that version may be unknown here
    known.take(list.version < since ? await records.listEnded(0) : list, clock.now());
    askedAt = at;
  };
  const refresh = (): Promise<void> => {
    running ??= read().finally(() => {
      running = undefined;
    });
    return running;
  };
  return {
    known,
    isYounger: (ms) => askedAt !== undefined && isRecent(clock, askedAt, ms),
    refresh,
    renew: async () => {
      await running?.catch(() => undefined);
      await refresh();
    },
  };
}
