import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readConfig } from '../../deploy/program/config/read-config.ts';
import type { ReadConfig } from '../../deploy/program/config/read-config.ts';
import type { ServiceName } from '../../deploy/program/config/program-config.ts';
import type { ContainerInput } from './pods.ts';

const CONFIG_FOLDER = '/etc/reelgate';
const SECRETS_FOLDER = '/run/secrets/';

/** Reads the configuration that a container finds, as a start of its service does. */
export function readContainerConfig({ files, environment }: ContainerInput, service: ServiceName): ReadConfig {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'reelgate-container-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      const file = path.join(folder, name);
      mkdirSync(path.dirname(file), { recursive: true });
      // absolute in the container, below the folder here
      writeFileSync(file, text.replaceAll(`\${file:${SECRETS_FOLDER}`, `\${file:${folder}${SECRETS_FOLDER}`));
    }
    return readConfig({ ...environment, REELGATE_CONFIG: path.join(folder, CONFIG_FOLDER) }, service);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The names of the variables, and the paths of the files, that the configuration of a container takes values from. */
export function namesIn({ files }: ContainerInput): { readonly variables: Set<string>; readonly secrets: Set<string> } {
  const text = Object.entries(files)
    .filter(([name]) => name.startsWith(CONFIG_FOLDER))
    .map(([, content]) => content.replaceAll(/^\s*#.*$/gm, ''))
    .join('\n');
  return {
    variables: new Set([...text.matchAll(/\$\{([A-Z_][A-Z0-9_]*)/g)].map(([, name]) => name ?? '')),
    secrets: new Set([...text.matchAll(/\$\{file:([^}]+)\}/g)].map(([, name]) => name ?? '')),
  };
}
