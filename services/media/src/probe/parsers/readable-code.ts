import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The packages that the parsers use. */
const PACKAGES = ['sharp', 'file-type', 'mediabunny', 'probe-image-size', '@reelgate/picture-decoder'];
const OWN = ['../', '../../domain/', '../../thumbnails/child/', '../../../package.json'];
/** Far more than the parsers need. */
const PACKAGES_MAX = 500;

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * The paths that the child process must read to run: its own code, and the packages that it loads with all that they
 * load.
 */
export function listReadableCode(): readonly string[] {
  const found = new Set<string>();
  const wanted = PACKAGES.map((name) => ({ name, from: fileURLToPath(import.meta.url) }));
  for (let next = wanted.pop(); next !== undefined && found.size < PACKAGES_MAX; next = wanted.pop()) {
    const folder = findPackageFolder(next.name, path.dirname(next.from));
    if (folder === undefined || found.has(folder)) continue;
    found.add(folder);
    const { dependencies, optionalDependencies } = JSON.parse(
      readFileSync(path.join(folder, 'package.json'), 'utf8'),
    ) as Manifest;
    wanted.push(
      ...Object.keys({ ...dependencies, ...optionalDependencies }).map((name) => ({
        name,
        from: path.join(folder, 'package.json'),
      })),
    );
  }
  // a workspace is a link: Node reads the link and the folder behind it
  const packages = new Set([...found].flatMap((folder) => [folder, realpathSync(folder)]));
  return [...OWN.map((own) => fileURLToPath(new URL(own, import.meta.url))), ...packages];
}

/**
 * Resolves a package as Node does: in this folder's packages, then in those of the folder above. Undefined: the package
 * is for another platform, and not installed.
 */
function findPackageFolder(name: string, from: string): string | undefined {
  const folder = path.join(from, 'node_modules', name);
  if (existsSync(path.join(folder, 'package.json'))) return folder;
  const above = path.dirname(from);
  return above === from ? undefined : findPackageFolder(name, above);
}
