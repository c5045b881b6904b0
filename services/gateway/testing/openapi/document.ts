import { Ajv2020 } from 'ajv/dist/2020.js';

export type Json = Readonly<Record<string, unknown>>;

export interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly required?: boolean;
  readonly schema: Json;
}
interface Content {
  readonly [type: string]: { readonly schema: Json };
}
interface Response {
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Content;
}

interface Reference {
  readonly $ref: string;
}

export interface Operation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly security: readonly object[];
  readonly responses: Readonly<Record<string, Response>>;
}

interface Header {
  readonly required?: boolean;
  readonly schema: Json;
}
interface Written {
  readonly security: readonly object[];
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          Omit<Operation, 'name' | 'method' | 'path' | 'parameters' | 'security' | 'responses'> & {
            readonly parameters?: readonly (Parameter | Reference)[];
            readonly security?: readonly object[];
            readonly responses: Readonly<Record<string, Response | Reference>>;
          }
        >
      >
    >
  >;
  readonly components: {
    readonly schemas: Readonly<Record<string, Json>>;
    readonly headers: Readonly<Record<string, Header>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
}

/** An OpenAPI document, as a test walks it. */
export interface ApiDocument {
  readonly operations: readonly Operation[];
  /** A schema without its reference. */
  resolve(schema: Json): Json;
  /** The faults of a value; undefined: the value is valid. */
  fault(schema: Json, value: unknown): string | undefined;
  headerAt(reference: string): Header;
  /** The names of all headers in the document. */
  readonly headerNames: ReadonlySet<string>;
}

const ADDRESS = 'openapi';

export function readDocument(json: unknown): ApiDocument {
  const written = json as Written;
  // the values of headers and queries are text
  const ajv = new Ajv2020({
    strict: false,
    logger: false,
    formats: {
      binary: true,
      date: /^\d{4}-\d{2}-\d{2}$/,
      'date-time': /^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/,
    },
  });
  ajv.addSchema(written, ADDRESS);
  const compiled = new Map<string, ReturnType<typeof ajv.compile>>();
  const checkOf = (schema: Json): ReturnType<typeof ajv.compile> => {
    const text = JSON.stringify(schema).replaceAll('"#/', `"${ADDRESS}#/`);
    const check = compiled.get(text) ?? ajv.compile(JSON.parse(text) as Json);
    compiled.set(text, check);
    return check;
  };
  const operations = Object.entries(written.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Operation => ({
      ...operation,
      security: operation.security ?? written.security,
      parameters: (operation.parameters ?? []).map((parameter) =>
        '$ref' in parameter ? written.components.parameters[parameter.$ref.split('/').at(-1)!]! : parameter,
      ),
      responses: Object.fromEntries(
        Object.entries(operation.responses).map(([status, response]) => [
          status,
          '$ref' in response ? written.components.responses[response.$ref.split('/').at(-1)!]! : response,
        ]),
      ),
      path,
      method: method.toUpperCase(),
      name: `${method.toUpperCase()} ${path}`,
    })),
  );
  return {
    operations,
    resolve: (schema) => {
      const reference = schema['$ref'];
      return typeof reference === 'string' ? written.components.schemas[reference.split('/').at(-1)!]! : schema;
    },
    fault: (schema, value) => {
      const check = checkOf(schema);
      return check(value) ? undefined : ajv.errorsText(check.errors);
    },
    headerAt: (reference) => written.components.headers[reference.split('/').at(-1)!]!,
    headerNames: new Set(
      operations.flatMap(({ responses }) =>
        Object.values(responses).flatMap(({ headers = {} }) => Object.keys(headers)),
      ),
    ),
  };
}
