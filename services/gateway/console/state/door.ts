import { createContext } from 'preact';
import type { ComponentType } from 'preact';
import { useContext } from 'preact/hooks';
import type { Me, OperatorMe, WaitingCount } from '../api/session.ts';
import type { Topic } from '../api/stream.ts';
import type { Door, PageRoute } from '../routes.ts';

/** The differences between the consoles of the two doors. The files of one door name nothing of the other. */
export interface ConsoleDoor<Someone extends Me | OperatorMe> {
  readonly name: Door;
  readonly pages: readonly PageRoute[];
  /** The names of the pages that the navigation lists, by their keys. */
  readonly navigation: Readonly<Record<string, string>>;
  readonly signIn: SignInField;
  /** Names in the header who is signed in. */
  readonly describe: (someone: Someone) => string;
  /** An optional line above every page. */
  readonly bar?: ComponentType<{ readonly me: Someone }>;
  /** Left out if the console has no queue. */
  readonly queue?: DoorQueue<Someone>;
}

/** A queue whose length the navigation and the title of the tab show. */
export interface DoorQueue<Someone extends Me | OperatorMe> {
  /** The key of its page in the navigation. */
  readonly nav: string;
  /** The topics of the stream that tell of its changes. */
  readonly topics: readonly Topic[];
  /** Returns undefined if the length cannot be read now. */
  readonly readLength: (someone: Someone) => WaitingCount | undefined;
  readonly words: {
    readonly shown: (count: number, more: boolean) => string;
    readonly label: (count: number, more: boolean) => string;
    readonly unknown: string;
    readonly spoken: (count: number) => string;
  };
}

/** The credential that a person signs in with. */
export interface SignInField {
  /** The name in the request. */
  readonly field: string;
  readonly label: string;
  readonly hasDocs: boolean;
}

/** The visitor who is signed in, and the console of the session. */
export type Visitor =
  { readonly door: 'client'; readonly me: Me } | { readonly door: 'operator'; readonly me: OperatorMe };

export const VisitorContext = createContext<Visitor | undefined>(undefined);

/** Returns the visitor who is signed in, on a page of the client console. */
export function useMe(): Me {
  const visitor = useContext(VisitorContext);
  if (visitor?.door !== 'client') throw new Error('this page belongs to the client console');
  return visitor.me;
}
