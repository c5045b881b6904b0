import type { Schema } from '../domain/schema.ts';

/** A member of a body, such as `error.code` or `data[].id`. */
export interface Field {
  readonly name: string;
  /** Such as `string or integer`; empty if the schema has no type. */
  readonly type: string;
  /** True if every shape of the body requires it. */
  readonly isRequired: boolean;
  readonly description: string;
}

/** Members that lie deeper are left to the OpenAPI document. */
const DEPTH_MAX = 2;

/** Lists the members of a body. A member that several shapes have comes once, as the first of them describes it. */
export function listFields(schema: Schema, depth = DEPTH_MAX): Field[] {
  const shapes = listShapes(schema);
  const lists = shapes.map((shape) => listOwnFields(shape, depth));
  const names = new Set(lists.flat().map(({ name }) => name));
  return [...names].map((name) => {
    const found = lists.flatMap((fields) => fields.filter((field) => field.name === name));
    return {
      name,
      type: [...new Set(found.flatMap(({ type }) => (type === '' ? [] : type.split(' or '))))].join(' or '),
      isRequired: found.length === lists.length && found.every(({ isRequired }) => isRequired),
      description: found.find(({ description }) => description !== '')?.description ?? '',
    };
  });
}

function listOwnFields(shape: Schema, depth: number): Field[] {
  const required = readList(shape['required']);
  return Object.entries(readObject(shape['properties'])).flatMap(([name, value]) => {
    const member = readObject(value);
    const variants = listShapes(member);
    const field = {
      name,
      type: listTypes(variants).join(' or '),
      isRequired: required.includes(name),
      description: findDescription(member),
    };
    return [field, ...listInnerFields(field, variants, depth)];
  });
}

function listInnerFields({ name, isRequired }: Field, variants: readonly Schema[], depth: number): Field[] {
  if (depth === 0) return [];
  const objects = variants.map((variant) => ({ prefix: `${name}.`, schema: variant }));
  const items = variants.flatMap(({ items }) =>
    items === undefined ? [] : [{ prefix: `${name}[].`, schema: readObject(items) }],
  );
  return [...objects, ...items].flatMap(({ prefix, schema }) =>
    listFields(schema, depth - 1).map((inner) => ({
      ...inner,
      name: `${prefix}${inner.name}`,
      isRequired: isRequired && inner.isRequired,
    })),
  );
}

/**
 * Returns the alternatives of a schema, each with the members that all of them have; the schema itself if it has no
 * alternatives. Null means only that the member may be left out.
 */
function listShapes(schema: Schema): Schema[] {
  const alternatives = listAlternatives(schema);
  if (alternatives.length === 0) return [schema];
  return alternatives
    .filter(({ type }) => type !== 'null')
    .flatMap(listShapes)
    .map((shape) => ({
      ...shape,
      properties: { ...readObject(schema['properties']), ...readObject(shape['properties']) },
      required: [...readList(schema['required']), ...readList(shape['required'])],
    }));
}

function listAlternatives(schema: Schema): Schema[] {
  return ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => readSchemas(schema[keyword]));
}

/** The description of the member, or else the first one among its alternatives. */
function findDescription(schema: Schema): string {
  if (typeof schema['description'] === 'string') return schema['description'];
  return (
    listAlternatives(schema)
      .map(findDescription)
      .find((description) => description !== '') ?? ''
  );
}

function listTypes(variants: readonly Schema[]): string[] {
  const types = variants.flatMap((variant) => {
    if ('const' in variant) return [JSON.stringify(variant['const'])];
    if (Array.isArray(variant['enum'])) return variant['enum'].map((value) => JSON.stringify(value));
    return readList(variant['type']);
  });
  return [...new Set(types.filter((type) => type !== 'null'))];
}

function readList(value: unknown): string[] {
  return [value ?? []].flat().map(String);
}

function readSchemas(value: unknown): Schema[] {
  return Array.isArray(value) ? value.map(readObject) : [];
}

function readObject(value: unknown): Schema {
  return typeof value === 'object' && value !== null ? (value as Schema) : {};
}
