import type { QueryParameter } from '../dialects/dialect.ts';
import type { Schema } from '../domain/schema.ts';
import { listRefusalStatuses } from '../http/routes/route.ts';
import type { RouteEntry } from '../http/routes/route.ts';
import { HEADERS } from './document.ts';
import { listMethods, toShownPath } from './find-route.ts';
import { listFields } from './list-fields.ts';

/** The routes of one tag of the OpenAPI document, as a page in markdown. */
export interface RoutePage {
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
