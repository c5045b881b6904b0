import { isDeepStrictEqual } from 'node:util';
import type { Schema } from '../domain/schema.ts';
import { RESPONSE_HEADERS } from '../http/response-headers.ts';
import type { ResponseHeader } from '../http/response-headers.ts';

export interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
}
/** A response in full. A reference to one has no content. */
export interface Answer {
  readonly [member: string]: unknown;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}
/** The part of an operation that is shared; the rest passes as it is. */
export interface Operation {
  readonly [member: string]: unknown;
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<string, Answer>>;
}
type Paths<T> = Readonly<Record<string, Readonly<Record<string, T>>>>;

interface SharedDocument {
  readonly paths: Paths<object>;
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly responses: Readonly<Record<string, Answer>>;
}

/**
 * Moves each parameter and each answer that several operations have to the components and leaves references in its
 * place. If a name stands for several of them, the first repeated one gets it, and the others stay where they are.
 */
export function shareComponents(paths: Paths<Operation>): SharedDocument {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const parameters = collectRepeated(
    operations.flatMap((operation) => operation.parameters ?? []),
    nameParameter,
  );
  const responses = collectRepeated(
    operations.flatMap((operation) => Object.values(operation.responses)),
    nameAnswer,
  );
  const referAll = (operation: Operation): object => ({
    ...operation,
    ...(operation.parameters === undefined
      ? {}
      : {
          parameters: operation.parameters.map((one) => refer('parameters', parameters, nameParameter(one), one)),
        }),
    responses: mapValues(operation.responses, (one) => refer('responses', responses, nameAnswer(one), one)),
  });
  return { paths: mapValues(paths, (methods) => mapValues(methods, referAll)), parameters, responses };
}

/** Returns the first value of each name that occurs more than once. A value without a name is not shared. */
function collectRepeated<T>(all: readonly T[], nameOne: (one: T) => string): Readonly<Record<string, T>> {
  return Object.fromEntries(
    [...Map.groupBy(all, nameOne)]
      .flatMap(([name, values]): (readonly [string, T])[] => {
        const repeated = values.find((one, at) => values.some((other, i) => i > at && isDeepStrictEqual(other, one)));
        return repeated === undefined || name === '' ? [] : [[name, repeated]];
      })
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
}

/** Returns a reference to a value if it is a component, else the value itself. */
function refer(kind: string, components: Readonly<Record<string, unknown>>, name: string, value: object): object {
  return isDeepStrictEqual(components[name], value) ? { $ref: `#/components/${kind}/${name}` } : value;
}

const nameParameter = ({ name }: Parameter): string => toComponentName(name);

/** Names an answer after its schemas: `CreatedTask`, or `JsonOrEventStream` if they have no titles. */
function nameAnswer({ content = {} }: Answer): string {
  return Object.entries(content)
    .map(([type, { schema }]) =>
      typeof schema['title'] === 'string' ? schema['title'] : toComponentName(type.split('/').at(-1) ?? type),
    )
    .join('Or');
}

function mapValues<T, U>(values: Readonly<Record<string, T>>, change: (value: T) => U): Readonly<Record<string, U>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}

/** Returns the name of a component: `Idempotency-Key` becomes `IdempotencyKey`. */
function toComponentName(name: string): string {
  return name
    .split(/[-_]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

export const headerComponents: Readonly<Record<string, object>> = Object.fromEntries(
  Object.entries(RESPONSE_HEADERS).map(([name, header]) => [toComponentName(name), header]),
);

export function buildHeaderRefs(names: readonly ResponseHeader[]): object {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${toComponentName(name)}` }]));
}
