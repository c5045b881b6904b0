import { createRequire } from 'node:module';
import path from 'node:path';
import { ROOT } from '../image/dockerfile.ts';

/* The packages with which the platform reads and checks a configuration. Those of the same names at the top are others'. */
const require = createRequire(path.join(ROOT, 'services/platform/package.json'));

interface Validator {
  validate(schema: object, value: unknown): boolean;
  errorsText(): string;
}

const { Ajv } = require('ajv') as { Ajv: new (options: object) => Validator };
const yaml = require('yaml') as { parseAllDocuments(text: string): readonly { toJS(): unknown }[] };

export const newValidator = (): Validator => new Ajv({ allErrors: true, strict: false });

/** Every document of a YAML file. */
export const yamlDocuments = (text: string): readonly unknown[] =>
  yaml.parseAllDocuments(text).map((document) => document.toJS());
