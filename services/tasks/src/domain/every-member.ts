/** Every member is named, also those that are undefined. */
export type EveryMember<T> = { readonly [K in keyof Required<T>]: T[K] };
