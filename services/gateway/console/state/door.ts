import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Me, OperatorMe } from '../api/session.ts';
import type { Door, PageRoute } from '../routes.ts';

/** What differs between the consoles of the two doors. The files of one door name nothing of the other. */
export interface ConsoleDoor<Someone extends Me | OperatorMe> {
  readonly name: Door;
  readonly pages: readonly PageRoute[];
  /** The names of the pages that the navigation lists, by their keys. */
  readonly navigation: Readonly<Record<string, string>>;
  readonly signIn: SignInField;
  /** Names in the header who is signed in. */
  readonly describe: (someone: Someone) => string;
}

/** What a person signs in with. */
export interface SignInField {
  /** The name in the request. */
  readonly field: string;
  readonly label: string;
  readonly hasDocs: boolean;
}

/** Who is signed in, and at which console. */
export type Visitor =
  { readonly door: 'client'; readonly me: Me } | { readonly door: 'operator'; readonly me: OperatorMe };

export const VisitorContext = createContext<Visitor | undefined>(undefined);

/** Who is signed in, on a page of the client console. */
export function useMe(): Me {
  const visitor = useContext(VisitorContext);
  if (visitor?.door !== 'client') throw new Error('this page belongs to the client console');
  return visitor.me;
}
