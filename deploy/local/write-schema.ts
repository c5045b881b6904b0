import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { configJsonSchema } from '../program/config/config-json-schema.ts';
import { replaceFile } from './replace-file.ts';

/** As a command: writes the JSON Schema of the configuration, formatted like the other files of the repository. */
const [file = path.join(import.meta.dirname, 'reelgate.schema.json')] = process.argv.slice(2);
const schema = JSON.stringify(configJsonSchema(), undefined, 2);
replaceFile(file, execFileSync('prettier', ['--stdin-filepath', file], { input: schema, encoding: 'utf8' }));
