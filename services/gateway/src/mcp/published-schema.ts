import type { Schema } from '../domain/schema.ts';
import type { ObjectSchema } from './mcp-tool.ts';

/**
 * Returns a schema as clients read it. google-genai fails for a schema with `additionalProperties`; what is checked keeps
 * it, so an unknown argument is refused all the same.
 */
export function toPublishedSchema(schema: ObjectSchema): ObjectSchema {
  return { ...publish(schema), type: 'object' };
}

function publish({ additionalProperties: _unpublished, ...schema }: Schema): Schema {
  const { properties, items, anyOf } = schema as {
    readonly properties?: Readonly<Record<string, Schema>>;
    readonly items?: Schema;
    readonly anyOf?: readonly Schema[];
  };
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, publish(property)])),
    }),
    ...(items && { items: publish(items) }),
    ...(anyOf && { anyOf: anyOf.map(publish) }),
  };
}
