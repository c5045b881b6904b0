import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { configJsonSchema } from '../program/config/config-json-schema.ts';
import { PAGES_OF_SETTINGS, updateSettingsTables } from '../program/config/settings-tables.ts';
import { replaceFile } from './replace-file.ts';

/**
 * As a command: writes the JSON Schema of the configuration, formatted like the other files of the repository, and the
 * tables of settings that follow from it.
 */
const [file = path.join(import.meta.dirname, 'reelgate.schema.json')] = process.argv.slice(2);
const schema = JSON.stringify(configJsonSchema(), undefined, 2);
replaceFile(file, execFileSync('prettier', ['--stdin-filepath', file], { input: schema, encoding: 'utf8' }));
if (process.argv.length < 3)
  for (const name of PAGES_OF_SETTINGS) {
    const page = path.join(import.meta.dirname, '../..', name);
    replaceFile(page, updateSettingsTables(readFileSync(page, 'utf8')));
  }
