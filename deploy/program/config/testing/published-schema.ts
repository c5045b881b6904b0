import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../../../..');

/** The configuration reader's own validator and parser. */
const ofPlatform = createRequire(path.join(ROOT, 'services/platform/package.json'));
interface Check {
  (value: unknown): boolean;
  readonly errors?: readonly { readonly instancePath: string; readonly message?: string }[] | null;
}
interface Validator {
  compile(schema: object): Check;
  validateSchema(schema: object): boolean | Promise<unknown>;
}
const { Ajv } = ofPlatform('ajv') as { Ajv: new (options: object) => Validator };
const { parse } = ofPlatform('yaml') as { parse: (text: string) => unknown };

const ajv = new Ajv({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  allowUnionTypes: true,
  allErrors: true,
});
const check = ajv.compile(
  JSON.parse(readFileSync(path.join(ROOT, 'deploy/local/reelgate.schema.json'), 'utf8')) as object,
);

export const parseYaml = parse;

/** What the published schema finds wrong with a configuration, or with some of its sections. */
export function errorsOf(value: unknown): string[] {
  check(value);
  return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
}

/** Whether the value is a JSON Schema. */
export const isSchema = (value: object): boolean => new Ajv({}).validateSchema(value) === true;
