import { NOT_FOUND } from '../../../console/routes.ts';
import type { DoorFiles, Door } from '../../../console/routes.ts';
import { PACKAGES } from './console-files.ts';
import { CLIENT_FILES } from '../../../console/client-routes.ts';
import { OPERATOR_FILES } from '../../../console/operator-routes.ts';

/**
 * An import or export of a module that is loaded with its importer: one of ours by its path, or a package by its name.
 * The transform leaves no space and no line between statements.
 */
const STATIC = /(?<=^|[;}\n])(?:import|export)\b(?:[^'"();=]*\bfrom)?\s*['"](?<specifier>[^'"]+)['"]/g;
/** A module that is loaded later, by a name that stands in the code. */
const DYNAMIC = /\bimport\(\s*['"](?<specifier>[^'"]+)['"]\s*\)/g;
/** A file that the code names relative to itself, such as a style. */
const NAMED = /\bnew URL\(\s*['"](?<specifier>\.{1,2}\/[^'"]+)['"]\s*,\s*import\.meta\.url\s*\)/g;
const ICON = 'icon.svg';

/** The files that load with a file, directly or through others, in any order. */
export function listImports(start: string, sources: ReadonlyMap<string, string>): readonly string[] {
  return reachFrom([start], sources, [STATIC]).slice(1);
}

/** The files that the browsers of a door can come to. What its entry and its pages do not reach is not served. */
export function selectFiles({ start, styles, pages }: DoorFiles, sources: ReadonlyMap<string, string>): Set<string> {
  const modules = [start, ...pages.map(({ module }) => module), NOT_FOUND.module].map(assetPath);
  const reached = reachFrom([...modules, ...styles, ICON], sources, [STATIC, DYNAMIC, NAMED]);
  const missing = reached.filter((file) => !sources.has(file));
  if (missing.length > 0) throw new Error(`the console has no file ${missing.join(', ')}`);
  return new Set(reached);
}

function reachFrom(
  starts: readonly string[],
  sources: ReadonlyMap<string, string>,
  patterns: readonly RegExp[],
): readonly string[] {
  const reached = new Set(starts);
  // a set that grows is walked to its end
  for (const file of reached)
    for (const pattern of patterns)
      for (const { groups } of (sources.get(file) ?? '').matchAll(pattern))
        reached.add(resolveFile(groups?.['specifier'] ?? '', file));
  return [...reached];
}

function resolveFile(specifier: string, importer: string): string {
  if (!specifier.startsWith('.')) return PACKAGES[specifier]?.file ?? specifier;
  return new URL(specifier, `file:///${importer}`).pathname.slice(1);
}

/** The files that each door serves. Everything else follows from what these files import. */
export const DOOR_FILES: Readonly<Record<Door, DoorFiles>> = { client: CLIENT_FILES, operator: OPERATOR_FILES };

/** The address of a file, below that of all assets of its door. */
export function assetPath(file: string): string {
  return file.replace(/^\.\//, '');
}
