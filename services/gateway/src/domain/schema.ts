/** A JSON Schema. Write it `as const`, so that `TypeOf` knows its members. */
export type Schema = Readonly<Record<string, unknown>>;

/** The schemas of the members of an object. */
export type Properties = Readonly<Record<string, Schema>>;

/**
 * The type of the values that a schema describes. It knows the keywords that the public schemas have. Limits, such as
 * `maximum` or `pattern`, are not part of the type.
 */
export type TypeOf<S> = string extends keyof S
  ? UntypedSchema
  : S extends { readonly const: infer Value }
    ? Value
    : S extends { readonly enum: readonly (infer Value)[] }
      ? Value
      : S extends { readonly anyOf: readonly (infer Branch)[] } | { readonly oneOf: readonly (infer Branch)[] }
        ? TypeOfBranch<Branch>
        : S extends { readonly type: infer Name }
          ? NamedType<S, Name extends readonly (infer One)[] ? One : Name>
          : unknown;

declare const untyped: unique symbol;
/** Stands for a schema whose members the compiler does not know. No value has this type, so the schema is found. */
interface UntypedSchema {
  readonly [untyped]: never;
}

type TypeOfBranch<Branch> = Branch extends unknown ? TypeOf<Branch> : never;

interface PlainTypes {
  readonly string: string;
  readonly integer: number;
  readonly number: number;
  readonly boolean: boolean;
  readonly null: null;
}

type NamedType<S, Name> = Name extends keyof PlainTypes
  ? PlainTypes[Name]
  : Name extends 'array'
    ? readonly (S extends { readonly items: infer Item } ? TypeOf<Item> : unknown)[]
    : S extends { readonly properties: infer P }
      ? ObjectType<P, S extends { readonly required: readonly (infer Member)[] } ? Member : never>
      : Readonly<
          Record<string, S extends { readonly additionalProperties: infer V extends Schema } ? TypeOf<V> : unknown>
        >;

type ObjectType<P, Required> = Flat<
  { readonly [M in keyof P as M extends Required ? M : never]: TypeOf<P[M]> } & {
    readonly [M in keyof P as M extends Required ? never : M]?: TypeOf<P[M]>;
  }
>;

/** The type of members that can all be absent. */
export type OptionalMembers<P> = ObjectType<P, never>;

/** An answer before its undefined members are left out: an optional member can be undefined. */
export type Draft<A> = { readonly [M in keyof A]: object extends Pick<A, M> ? A[M] | undefined : A[M] };

/** One type with all members, as an error of the compiler can name them. */
type Flat<T> = { [M in keyof T]: T[M] };

/** Builds the schema of an object that has these members and no others. All but the optional ones are required. */
export function objectSchema<const P extends Properties, const Optional extends keyof P & string = never>(
  properties: P,
  optional: readonly Optional[] = [],
): {
  readonly type: 'object';
  readonly required: readonly Exclude<keyof P & string, Optional>[];
  readonly additionalProperties: false;
  readonly properties: P;
} {
  const required = Object.keys(properties).filter(
    (name): name is Exclude<keyof P & string, Optional> => !(optional as readonly string[]).includes(name),
  );
  return { type: 'object', required, additionalProperties: false, properties };
}

/** Gives all members with these names the same schema. */
export function memberSchemas<const Name extends string, const S extends Schema>(
  names: readonly Name[],
  schema: S,
): { readonly [N in Name]: S } {
  return Object.fromEntries(names.map((name) => [name, schema])) as { readonly [N in Name]: S };
}

declare const checked: unique symbol;
/** The schema of an answer that the compiler has compared with what is answered. */
export type AnswerSchema = Schema & { readonly [checked]: true };

/** An answer: what is documented of it, and the function that encodes it. */
export interface Answer<From extends readonly unknown[]> {
  readonly schema: AnswerSchema;
  readonly encode: (...from: From) => object;
}

/** Ties the schema of an answer to the function that encodes it. A function that does not fit does not compile. */
export function newAnswer<
  const S extends Schema,
  const From extends readonly unknown[],
  const Encoded extends TypeOf<S> & object,
>(schema: S, encode: (...from: From) => Encoded): Answer<From> {
  return { schema: markAnswer(schema), encode };
}

/**
 * Marks the schema of an answer. Only `newAnswer` and `jsonRoute` compare it with what is answered, so call this for
 * nothing but an answer that another program writes, or one that is marked in parts.
 */
export function markAnswer(schema: Schema): AnswerSchema {
  return schema as AnswerSchema;
}
