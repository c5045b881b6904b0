import type { EveryMember } from './every-member.ts';

/**
 * The texts of a client about its own work. A task keeps them, and a batch keeps them for its lines. No upstream gets
 * them.
 */
export interface Annotations {
  /** The client's word for its own accounts, such as a project. */
  readonly label?: string | undefined;
}

/** The annotations in a message, where an empty text is none. */
export type WireAnnotations = EveryMember<Record<keyof Annotations, string>>;

export function readAnnotations({ label }: WireAnnotations): EveryMember<Annotations> {
  return { label: label === '' ? undefined : label };
}

export function toWireAnnotations({ label = '' }: Annotations): WireAnnotations {
  return { label };
}

/** Returns the annotations without any other member. */
export function takeAnnotations({ label }: Annotations): EveryMember<Annotations> {
  return { label };
}

/** Returns the value without its annotations. */
export function removeAnnotations<T extends Annotations>(value: T): Omit<T, keyof Annotations> {
  const { label: _label, ...others } = value;
  return others;
}

/** Work without a label has the label of its token. */
export function completeAnnotations(given: Annotations, token: Pick<Annotations, 'label'>): EveryMember<Annotations> {
  return { ...takeAnnotations(given), label: given.label ?? token.label };
}
