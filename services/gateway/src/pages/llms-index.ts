import { API, toShownPath, HEADERS, listMethods } from './document.ts';
import type { QueryParameter } from '../dialects/dialect.ts';
import type { Schema } from '../domain/schema.ts';
import { listRefusalStatuses } from '../http/routes/route.ts';
import type { RouteEntry } from '../http/routes/route.ts';

/** The paths of a page that its line names. */
const PATHS_MAX = 4;

/** The paths of the pages for programs that read. */
export const AGENT_PATHS = {
  index: '/llms.txt',
  full: '/llms-full.txt',
  skill: '/skills/reelgate-video/SKILL.md',
  pages: '/docs',
} as const;

/** The first page, in the shape of llmstxt.org: a title, a summary, and lists of links. */
export function writeIndex(pages: readonly RoutePage[], publicUrl: string): string {
  const link = (title: string, path: string, about: string): string => `- [${title}](${publicUrl}${path}): ${about}`;
  return (
    [
      `# ${API.title}`,
      `> ${API.description}`,
      introduce(publicUrl),
      '## Start here',
      [
        link('Skill', AGENT_PATHS.skill, 'from the price of a video to its file, with curl, for an agent'),
        link('OpenAPI', '/openapi.json', 'every route, body, answer and header, for programs'),
      ].join('\n'),
      '## Routes',
      pages.map((page) => link(page.title, `${AGENT_PATHS.pages}/${page.file}`, listPaths(page))).join('\n'),
      '## Optional',
      [
        link('All routes', AGENT_PATHS.full, 'the pages above as one text'),
        link('Documentation', '/docs', 'the OpenAPI document as a page for people'),
      ].join('\n'),
    ].join('\n\n') + '\n'
  );
}

/** All pages as one text. */
export function writeFullText(pages: readonly RoutePage[], publicUrl: string): string {
  const head = [`# ${API.title}`, `> ${API.description}`, introduce(publicUrl), ''].join('\n\n');
  return head + pages.map(writeRoutePage).join('\n');
}

function introduce(publicUrl: string): string {
  return (
    `Paths are below ${publicUrl}. Each request needs \`Authorization: Bearer TOKEN\`, unless its page says otherwise. ` +
    'A refusal is JSON with `error.message` for people and `error.code` for programs. Creates are paid: send an ' +
    '`Idempotency-Key`, and repeat a create only with the same key.'
  );
}

function listPaths({ routes }: RoutePage): string {
  const paths = [...new Set(routes.map(toShownPath))];
  const more = paths.length - PATHS_MAX;
  const named = paths.slice(0, PATHS_MAX).map((path) => `\`${path}\``);
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}

/** The routes of one tag of the OpenAPI document, as a page in markdown. */
interface RoutePage {
  /** The last part of its path, such as `models.md`. */
  readonly file: string;
  readonly title: string;
  readonly routes: readonly RouteEntry[];
}

/** Groups the routes that do something, in the order of the table. */
export function listRoutePages(routes: readonly RouteEntry[]): RoutePage[] {
  const working = routes.filter(({ kind }) => kind !== 'unsupported');
  return [...Map.groupBy(working, ({ doc }) => doc.tag)].map(([title, own]) => ({
    file: `${toFileName(title)}.md`,
    title,
    routes: own,
  }));
}

export function writeRoutePage({ title, routes }: RoutePage): string {
  return [`# ${title}`, ...routes.map(describeRoute)].join('\n\n') + '\n';
}

function describeRoute(route: RouteEntry): string {
  const { doc, token } = route;
  const parts = [
    `## ${listMethods(route).join(', ')} ${toShownPath(route)}`,
    `${doc.summary}.${doc.description === undefined ? '' : ` ${doc.description}`}`,
    token === undefined ? 'It needs no token.' : undefined,
    describeParameters('Query', doc.parameters ?? []),
    describeParameters(
      'Headers',
      (doc.headers ?? []).map((name) => ({ name, ...HEADERS[name] })),
    ),
    doc.json === undefined ? undefined : describeBody('Body as JSON', doc.json),
    doc.form === undefined ? undefined : 'The body can be a `multipart/form-data` form too.',
    ...Object.entries(doc.answers).map(([type, schema]) => describeBody(`Answer as \`${type}\``, schema)),
    `Refusals: ${[...listRefusalStatuses(route)].toSorted((one, other) => one - other).join(', ')}.`,
  ];
  return parts.filter((part) => part !== undefined).join('\n\n');
}

function describeParameters(title: string, parameters: readonly QueryParameter[]): string | undefined {
  if (parameters.length === 0) return undefined;
  const lines = parameters.map(({ name, required, description }) =>
    toLine(name, required === true ? 'required' : '', description),
  );
  return [`${title}:`, lines.join('\n')].join('\n\n');
}

function describeBody(title: string, schema: Schema): string {
  const lines = listFields(schema).map(({ name, type, isRequired, description }) =>
    toLine(name, [type, isRequired ? 'required' : ''].filter((part) => part !== '').join(', '), description),
  );
  return lines.length === 0 ? `${title}.` : [`${title}:`, lines.join('\n')].join('\n\n');
}

function toLine(name: string, facts: string, description: string): string {
  return `- \`${name}\`${facts === '' ? '' : ` (${facts})`}${description === '' ? '' : `: ${description}`}`;
}

function toFileName(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

/** A member of a body, such as `error.code` or `data[].id`. */
interface Field {
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
