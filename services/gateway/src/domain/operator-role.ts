/** The roles of operators. Each role may do all that the ones before it may. */
export const ROLES = ['viewer', 'operator', 'treasurer'] as const;
export type Role = (typeof ROLES)[number];

/** The operator who is signed in at the operator console. */
export interface SignedInOperator {
  /** The name that every act is recorded with. */
  readonly name: string;
  readonly role: Role;
}

/** Reports whether a role is enough where `needed` is required. */
export function covers(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}
