import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Me, OperatorMe } from '../api/session.ts';

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
