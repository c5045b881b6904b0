import { useContext } from 'preact/hooks';
import type { OperatorMe } from '../../../api/session.ts';
import { VisitorContext } from '../../../state/door.ts';

type Role = OperatorMe['role'];

/** Each role may do all that the ones before it may. */
const ROLES: readonly Role[] = ['viewer', 'operator', 'treasurer'];

/** The operator who is signed in. */
export interface SignedInOperator {
  readonly name: string;
  /** Reports whether the role of the operator is enough where `needed` is required. */
  readonly covers: (needed: Role) => boolean;
}

/** Returns the operator who is signed in. */
export function useOperator(): SignedInOperator {
  const visitor = useContext(VisitorContext);
  if (visitor?.door !== 'operator') throw new Error('this page belongs to the operator console');
  const { name, role } = visitor.me;
  return { name, covers: (needed) => ROLES.indexOf(role) >= ROLES.indexOf(needed) };
}
