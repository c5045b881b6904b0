import type { DescEnum } from '@bufbuild/protobuf';

/** The generated object of an enum: its names, and the way back from a number to its name. */
type GeneratedEnum = Readonly<Record<string, string | number>>;
type ValueName<E> = Exclude<keyof E & string, 'UNSPECIFIED'>;

/** The words of an enum of a contract, such as `not_found` for KIND_NOT_FOUND. UNSPECIFIED has no word. */
export type EnumWord<E> = Lowercase<ValueName<E>>;
/** The value of each word. */
export type EnumValues<E> = { readonly [Name in ValueName<E> as Lowercase<Name>]: E[Name] };
/** The word of each value. */
export type EnumWords<E, Unspecified> = {
  readonly [Name in keyof E & string as E[Name] & number]: Name extends 'UNSPECIFIED' ? Unspecified : Lowercase<Name>;
};

/** Lists the words of an enum in the order of its values. */
export function listWords<E extends GeneratedEnum>(generated: E): readonly EnumWord<E>[] {
  return listEntries(generated).map(([word]) => word) as EnumWord<E>[];
}

/** Derives the value of each word. Call it once, at the load of a module. */
export function deriveValues<E extends GeneratedEnum>(generated: E): EnumValues<E> {
  return Object.fromEntries(listEntries(generated)) as EnumValues<E>;
}

/**
 * Derives the word of each value; UNSPECIFIED has the given one. A number that this release does not know has no word:
 * the look-up is undefined then, although its type does not say so. Call it once, at the load of a module.
 */
export function deriveWords<E extends GeneratedEnum>(generated: E): EnumWords<E, undefined>;
export function deriveWords<E extends GeneratedEnum, const U extends string>(
  generated: E,
  unspecified: U,
): EnumWords<E, U>;
export function deriveWords(generated: GeneratedEnum, unspecified?: string): unknown {
  const words = listEntries(generated).map(([word, value]): [number, string] => [value, word]);
  return Object.fromEntries<string | undefined>([[0, unspecified], ...words]);
}

/** Finds the word of a value in the descriptor of its enum; empty for UNSPECIFIED and for an unknown number. */
export function findWord(schema: DescEnum, value: number): string {
  return value === 0 ? '' : (schema.value[value]?.localName.toLowerCase() ?? '');
}

/** Lists each word with its value. The names of the way back, which are numbers, are left out. */
function listEntries(generated: GeneratedEnum): (readonly [word: string, value: number])[] {
  return Object.entries(generated).flatMap(([name, value]) =>
    typeof value === 'number' && name !== 'UNSPECIFIED' ? [[name.toLowerCase(), value] as const] : [],
  );
}
