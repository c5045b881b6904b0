/** What an operator may do; each role may do all that the ones before it may. */
export const ROLES = ['viewer', 'operator', 'treasurer'] as const;
export type Role = (typeof ROLES)[number];

/** Who is signed in at the operator console. */
export interface SignedInOperator {
  /** The name that every act is recorded with. */
  readonly name: string;
  readonly role: Role;
}

/** Whether a role is enough for what needs another one. */
export function covers(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}
