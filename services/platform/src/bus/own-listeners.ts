import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { callListener } from './bus.ts';
import type { Subscription } from './bus.ts';
import type { Log } from '../log.ts';

interface Listener {
  /**
   * Written as a method, so that TypeScript accepts a listener of any message. A listener receives only the messages of
   * its own subject.
   */
  handle(message: unknown): void;
}

/** The listeners of this process. */
export interface OwnListeners {
  add<S extends DescMessage>(schema: S, handle: (message: MessageShape<S>) => void): Subscription;
  /** Has each listener called soon, after the running work. */
  notify<S extends DescMessage>(schema: S, message: MessageShape<S>): void;
}

export function newOwnListeners(log: Log): OwnListeners {
  const bySubject = new Map<string, Set<Listener>>();
  return {
    add: <S extends DescMessage>({ typeName }: S, handle: (message: MessageShape<S>) => void): Subscription => {
      const ofSubject = bySubject.get(typeName) ?? new Set();
      bySubject.set(typeName, ofSubject);
      const own = { handle };
      ofSubject.add(own);
      return { stop: async () => void ofSubject.delete(own) };
    },
    notify: ({ typeName }, message) => {
      for (const listener of bySubject.get(typeName) ?? [])
        queueMicrotask(() => {
          callListener(() => listener.handle(message), log);
        });
    },
  };
}
