import { CONFIG_SCHEMA } from '../program-schema.ts';

export interface SettingSchema {
  readonly properties?: Readonly<Record<string, SettingSchema>>;
  readonly items?: SettingSchema;
  readonly additionalProperties?: SettingSchema | boolean;
  readonly default?: unknown;
}

/** One key of the configuration reader. In its path `*` stands for an item or for a key of any name. */
export interface Setting {
  readonly path: readonly string[];
  readonly schema: SettingSchema;
}

/** Every key of the configuration reader, sections included. */
export const SETTINGS: readonly Setting[] = settingsIn(CONFIG_SCHEMA as SettingSchema);

function settingsIn({ properties = {}, items, additionalProperties }: SettingSchema, at: string[] = []): Setting[] {
  const nested = [
    ...Object.entries(properties),
    ...(items === undefined ? [] : [['*', items] as const]),
    ...(typeof additionalProperties === 'object' ? [['*', additionalProperties] as const] : []),
  ];
  return nested.flatMap(([name, schema]) => [{ path: [...at, name], schema }, ...settingsIn(schema, [...at, name])]);
}
