import { isDeepStrictEqual } from 'node:util';

const SCHEMA_KEYWORDS = ['type', 'oneOf', 'anyOf', 'allOf'];

type Json = Readonly<Record<string, unknown>>;

/**
 * Moves every schema with a title to the components and leaves a reference in its place, with the description if that
 * is the place's own.
 */
export function hoist<T extends object>(
  value: T,
): {
  readonly document: T;
  readonly schemas: Readonly<Record<string, unknown>>;
} {
  const schemas = new Map<string, Json>();
  const walk = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(walk);
    if (typeof node !== 'object' || node === null) return node;
    const copy = Object.fromEntries(Object.entries(node).map(([name, inner]) => [name, walk(inner)]));
    return isTitled(node as Json) ? refer(copy) : copy;
  };
  const refer = (schema: Json): object => {
    const title = String(schema['title']);
    const $ref = `#/components/schemas/${title}`;
    const known = schemas.get(title);
    schemas.set(title, known ?? schema);
    const { description } = schema;
    if (known === undefined || isDeepStrictEqual(known, schema)) return { $ref };
    if (!isDeepStrictEqual({ ...known, description }, schema)) throw new Error(`two schemas have the title ${title}`);
    return { description, $ref };
  };
  return {
    document: walk(value) as T,
    schemas: Object.fromEntries([...schemas].toSorted(([one], [other]) => (one < other ? -1 : 1))),
  };
}

/** Reports whether this is a schema with a title, not an object with a property called `title`. */
function isTitled(node: Json): boolean {
  return typeof node['title'] === 'string' && SCHEMA_KEYWORDS.some((keyword) => keyword in node);
}
