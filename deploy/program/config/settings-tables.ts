import { CONFIG_SCHEMA } from './program-schema.ts';

/** The pages with tables of settings. */
export const PAGES_OF_SETTINGS = ['deploy/configuration.md', 'services/media/settings.md'] as const;
/** The line before a table that follows from the settings, with the path of its section. */
const MARK = /^<!-- settings of ([\w.*]+), by npm run gen:config -->$/;

interface SettingSchema {
  readonly about?: string;
  readonly absent?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SettingSchema>>;
  readonly items?: SettingSchema;
  /** The schema of each entry of a map. */
  readonly additionalProperties?: SettingSchema;
}

/** Writes the rows of each marked table of a page anew. */
export function updateSettingsTables(page: string): string {
  const lines = page.split('\n');
  return lines
    .flatMap((line, at) => {
      const [, section] = MARK.exec(lines[at - 2] ?? '') ?? [];
      if (section !== undefined) return [line, '|---|---|---|', ...listRows(findSection(section))];
      return isWithinTable(lines, at) ? [] : [line];
    })
    .join('\n');
}

/** The header is the second line after the mark. */
function isWithinTable(lines: readonly string[], at: number): boolean {
  if (lines[at]?.startsWith('|') !== true) return false;
  const first = lines.findLastIndex((line, index) => index < at && !line.startsWith('|')) + 1;
  return first < at && MARK.test(lines[first - 2] ?? '');
}

function findSection(dotted: string): SettingSchema {
  let found: SettingSchema | undefined = CONFIG_SCHEMA as SettingSchema;
  for (const key of dotted.split('.'))
    found = key === '*' ? (found?.items ?? found?.additionalProperties) : found?.properties?.[key];
  if (found === undefined) throw new Error(`no section ${dotted}`);
  return found;
}

function listRows({ properties = {}, required = [] }: SettingSchema, at = ''): readonly string[] {
  return Object.entries(properties).flatMap(([key, schema]) =>
    schema.properties === undefined
      ? [`| \`${at}${key}\` | ${schema.about ?? ''} | ${describeDefault(schema, required.includes(key))} |`]
      : listRows(schema, `${at}${key}.`),
  );
}

function describeDefault({ default: value, absent, format }: SettingSchema, isRequired: boolean): string {
  if (absent !== undefined) return absent;
  if (isRequired) return 'required';
  if (value === undefined) throw new Error('a setting without a default says what holds without it');
  const values = typeof value === 'object' ? Object.values(value as object) : [value];
  return values.length === 0 ? 'none' : values.map((one) => quote(one, format)).join(', ');
}

/** Writes a value as the file has it. A decimal is in quotes, so that no reader of YAML rounds it. */
function quote(value: unknown, format: string | undefined): string {
  if (typeof value !== 'string') return String(value);
  return format === 'decimal' ? `\`"${value}"\`` : `\`${value}\``;
}
