import { AGENT_PATHS, writeFullText, writeIndex } from './llms-index.ts';
import { listRoutePages, writeRoutePage } from './route-pages.ts';
import { writeVideoSkill } from './video-skill.ts';
import type { RouteEntry } from '../http/routes/route.ts';

const TAG = 'Documentation';
const MARKDOWN = 'text/markdown; charset=utf-8';
const PLAIN = 'text/plain; charset=utf-8';

/** The documentation as text, for programs that read. It is written from the table of routes, when it is first read. */
export function agentRoutes(described: readonly RouteEntry[], publicUrl: string): RouteEntry[] {
  const pages = listRoutePages(described);
  const { index, full, skill, pages: folder } = AGENT_PATHS;
  return [
    textRoute(index, PLAIN, () => writeIndex(pages, publicUrl)),
    textRoute(full, PLAIN, () => writeFullText(pages, publicUrl)),
    textRoute(skill, MARKDOWN, () => writeVideoSkill(described)),
    ...pages.map((page) => textRoute(`${folder}/${page.file}`, MARKDOWN, () => writeRoutePage(page))),
  ];
}

function textRoute(path: string, type: string, write: () => string): RouteEntry {
  let text: string | undefined;
  return {
    kind: 'page',
    methods: ['GET'],
    path,
    handle: (exchange) => {
      exchange.type = type;
      exchange.body = text ??= write();
    },
    doc: { tag: TAG, operationId: `get${path}`, summary: 'Read the documentation as text', answers: {} },
  };
}
