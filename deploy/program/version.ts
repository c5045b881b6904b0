import { readFileSync } from 'node:fs';

const MANIFEST = new URL('../../package.json', import.meta.url);

/** The release of this program. */
export const PROGRAM_VERSION = (JSON.parse(readFileSync(MANIFEST, 'utf8')) as { readonly version: string }).version;
