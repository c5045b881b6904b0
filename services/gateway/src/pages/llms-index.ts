import { API } from './document.ts';
import { toShownPath } from './find-route.ts';
import { writeRoutePage } from './route-pages.ts';
import type { RoutePage } from './route-pages.ts';

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
