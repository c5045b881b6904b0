import { Secret } from '../secret.ts';
import { FORMAT_WORDS, parseBytes, parseDuration, parseHostPort } from './units.ts';
import type { HostPort } from './units.ts';

type Schema = Readonly<Record<string, unknown>>;

/**
 * A key of the configuration: the schema of its entry in the file, and how the program reads that entry. `Entry` and
 * `Value` include undefined if the key may be absent.
 */
export interface Setting<
  Entry = unknown,
  Value = unknown,
  As extends string = string,
  Unit extends string = string,
  IsRequired extends boolean = boolean,
> {
  readonly schema: Schema;
  readonly isRequired: IsRequired;
  /** The name of the value in the program; empty if it follows from the key. */
  readonly as: As;
  /** The end of a name that follows from the key. */
  readonly unit: Unit;
  /** Throws a ConfigError that begins with `at`, the path of the key. */
  read(entry: Entry, at: string): Value;
}

/** The keys of a section, which may have sections within it. */
export interface Section {
  readonly [key: string]: Setting | Section;
}

/** The values of a section as the program has them, under names such as `connectTimeoutMs` for `connect_timeout`. */
export type ValuesOf<S> = {
  readonly [Key in keyof S & string as NameOf<Key, S[Key]>]: S[Key] extends Setting<unknown, infer Value>
    ? Value
    : ValuesOf<S[Key]>;
};

/** The section as the checked file has it. */
export type EntryOf<S> = Flat<
  { readonly [Key in Exclude<keyof S & string, OptionalKey<S>>]: EntryAt<S[Key]> } & {
    readonly [Key in OptionalKey<S>]?: Exclude<EntryAt<S[Key]>, undefined>;
  }
>;

type Flat<T> = { [Key in keyof T]: T[Key] };

/** A setting or a section as the checked file has it. */
export type EntryAt<S> = S extends Setting<infer Entry> ? Entry : EntryOf<S>;
/** A section within a section has a default. */
type OptionalKey<S> = {
  [Key in keyof S & string]: S[Key] extends Setting<infer Entry> ? (undefined extends Entry ? Key : never) : never;
}[keyof S & string];
type Camel<Key extends string> = Key extends `${infer Word}_${infer Rest}` ? `${Word}${Capitalize<Camel<Rest>>}` : Key;
type NameOf<Key extends string, S> =
  S extends Setting<unknown, unknown, infer As, infer Unit>
    ? As extends ''
      ? WithUnit<Camel<Key>, Unit>
      : As
    : Camel<Key>;
type WithUnit<Name extends string, Unit extends string> = Name extends `${string}${Unit}` ? Name : `${Name}${Unit}`;

/** The part of a setting that is not its sentence. */
interface Options<Entry> {
  readonly default?: Entry;
  /** True if an entry without the key is refused. */
  readonly required?: true;
  /** The effect of an absent key that has no default. */
  readonly absent?: string;
  /** The value that a message asks for in place of a wrong one. */
  readonly expects?: string;
  /** The name of the value in the program, if it does not follow from the key. */
  readonly as?: string;
}

type Present<O, T> = O extends { readonly default: unknown } | { readonly required: true } ? T : T | undefined;
type AsOf<O> = O extends { readonly as: infer As extends string } ? As : '';
type IsRequiredBy<O> = O extends { readonly required: true } ? true : false;
type SettingBy<O, Entry, Value, Unit extends string = ''> = Setting<
  Present<O, Entry>,
  Present<O, Value>,
  AsOf<O>,
  Unit,
  IsRequiredBy<O>
>;
type NoOptions = Readonly<Record<string, never>>;

/*
 * Each function below builds a setting of one kind. It takes the sentence of the settings page, which says what the
 * setting is for.
 */

/** A setting of any schema. `read` converts an entry that the schema has accepted. */
export function custom<Entry, Value, const O extends Options<Entry>>(
  about: string,
  schema: Schema,
  options: O,
  read: (entry: Entry, at: string) => Value,
): SettingBy<O, Entry, Value> {
  return build({ about, ...schema }, options, read, '');
}

function build<Entry, Value, O extends Options<Entry>, Unit extends string>(
  schema: Schema,
  { absent, expects, default: fallback, required, as = '' }: O,
  read: (entry: Entry, at: string) => Value,
  unit: Unit,
): SettingBy<O, Entry, Value, Unit> {
  const readPresent = (entry: Entry | undefined, at: string): Value | undefined => {
    const given = entry ?? fallback;
    return given === undefined ? undefined : read(given, at);
  };
  return {
    schema: { ...schema, ...omitUndefined({ absent, description: expects, default: fallback }) },
    isRequired: required === true,
    as,
    unit,
    read: readPresent,
  } as SettingBy<O, Entry, Value, Unit>;
}

interface RangeOptions extends Options<string> {
  /** Both bounds are values that the setting may have. */
  readonly min?: string;
  readonly max?: string;
}

/** A duration such as `30m`, in milliseconds. */
export function duration<const O extends RangeOptions = NoOptions>(
  about: string,
  options: O = {} as O,
): SettingBy<O, string, number, 'Ms'> {
  const schema = { about, type: 'string', format: 'duration', ...describeRange('a duration', '3s or 30m', options) };
  return build(schema, options, (entry: string) => requireParsed(parseDuration(entry)), 'Ms');
}

/** A size such as `64MiB`, in bytes. */
export function bytes<const O extends RangeOptions = NoOptions>(
  about: string,
  options: O = {} as O,
): SettingBy<O, string, number, 'Bytes'> {
  const schema = { about, type: 'string', format: 'bytes', ...describeRange('a size', '64MiB or 2GiB', options) };
  return build(schema, options, (entry: string) => requireParsed(parseBytes(entry)), 'Bytes');
}

function describeRange(what: string, example: string, { min, max }: RangeOptions): Schema {
  if (min === undefined && max === undefined) return {};
  const words = min === undefined ? `up to ${max}` : `from ${min}${max === undefined ? '' : ` to ${max}`}`;
  return { range: omitUndefined({ min, max }), description: `${what} ${words}, such as ${example}` };
}

function requireParsed<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the configuration was not checked against its schema');
  return value;
}

const WHOLE_MAX = 2 ** 31 - 1;

interface WholeOptions extends Options<number> {
  readonly min?: number;
  readonly max?: number;
  /** The counted things, for the message. */
  readonly of?: string;
}

/** A whole number, from 1 if it says nothing else. */
export function whole<const O extends WholeOptions = NoOptions>(
  about: string,
  options: O = {} as O,
): SettingBy<O, number, number> {
  const { min = 1, max, of } = options as WholeOptions;
  const what = of === undefined ? 'a whole number' : `a whole number of ${of}`;
  const description = `${what} from ${min}${max === undefined ? '' : ` to ${max}`}`;
  return custom(about, { type: 'integer', minimum: min, maximum: max ?? WHOLE_MAX, description }, options, same);
}

interface NumberOptions extends Options<number> {
  readonly min: number;
  readonly max: number;
}

export function number<const O extends NumberOptions>(about: string, options: O): SettingBy<O, number, number> {
  return custom(about, { type: 'number', minimum: options.min, maximum: options.max }, options, same);
}

export function flag<const O extends Options<boolean> = NoOptions>(
  about: string,
  options: O = {} as O,
): SettingBy<O, boolean, boolean> {
  return custom(about, { type: 'boolean', description: 'true or false' }, options, same);
}

interface TextOptions extends Options<string> {
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
}

export function text<const O extends TextOptions = NoOptions>(
  about: string,
  options: O = {} as O,
): SettingBy<O, string, string> {
  return custom(about, textSchema(options), options, same);
}

export function secret<const O extends TextOptions = NoOptions>(
  about: string,
  options: O = {} as O,
): SettingBy<O, string, Secret> {
  return custom(about, textSchema(options), options, (entry: string) => new Secret(entry));
}

function textSchema({ pattern, minLength, maxLength }: TextOptions): Schema {
  return { type: 'string', ...omitUndefined({ pattern, minLength, maxLength }) };
}

/** An address such as `127.0.0.1:8080`. */
export function address<const O extends Options<string> = NoOptions>(
  about: string,
  options: O = {} as O,
): SettingBy<O, string, HostPort> {
  const read = (entry: string): HostPort => requireParsed(parseHostPort(entry));
  return custom(about, { type: 'string', format: 'host-port' }, options, read);
}

/** A decimal in quotes such as `"0.08"`. */
export function decimal<const O extends Options<string> = NoOptions>(
  about: string,
  options: O = {} as O,
): SettingBy<O, string, string> {
  return custom(about, { type: 'string', format: 'decimal', description: FORMAT_WORDS.decimal }, options, same);
}

/** One of some words. */
export function choice<const Word extends string, const O extends Options<Word>>(
  about: string,
  words: readonly Word[],
  options: O,
): SettingBy<O, Word, Word> {
  return custom(about, { enum: words }, options, same);
}

interface ListOptions<Entry> extends Options<readonly Entry[]> {
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: true;
}

/** A list whose entries are of one kind. */
export function list<Entry, Value, const O extends ListOptions<Entry>>(
  about: string,
  item: Setting<Entry, Value>,
  options: O,
): SettingBy<O, readonly Exclude<Entry, undefined>[], readonly Exclude<Value, undefined>[]> {
  const { minItems, maxItems, uniqueItems } = options as ListOptions<Entry>;
  const schema = { type: 'array', items: item.schema, ...omitUndefined({ minItems, maxItems, uniqueItems }) };
  const read = (entries: readonly Entry[], at: string): readonly Value[] =>
    entries.map((entry, index) => item.read(entry, `${at}.${index}`));
  return custom(about, schema, options, read) as unknown as SettingBy<
    O,
    readonly Exclude<Entry, undefined>[],
    readonly Exclude<Value, undefined>[]
  >;
}

type Items<T> = Readonly<Record<string, Exclude<T, undefined>>>;

interface RecordOptions<Entry> extends Options<Readonly<Record<string, Entry>>> {
  readonly minProperties?: number;
}

/** A map from names of any kind to entries of one kind. */
export function record<Entry, Value, const O extends RecordOptions<Entry>>(
  about: string,
  item: Setting<Entry, Value>,
  options: O,
): SettingBy<O, Items<Entry>, Items<Value>> {
  const { minProperties } = options as RecordOptions<Entry>;
  const schema = { type: 'object', additionalProperties: item.schema, ...omitUndefined({ minProperties }) };
  const read = (entries: Readonly<Record<string, Entry>>, at: string): Readonly<Record<string, Value>> =>
    Object.fromEntries(Object.entries(entries).map(([key, entry]) => [key, item.read(entry, `${at}.${key}`)]));
  return custom(about, schema, options, read) as unknown as SettingBy<O, Items<Entry>, Items<Value>>;
}

interface SectionOptions extends Omit<Options<never>, 'default'> {
  /** Its keys have defaults of their own. */
  readonly default?: object;
  /** The part of the schema that is not its keys. */
  readonly schema?: Schema;
}

/** A section that can be absent as a whole, or that says more than its keys. */
export function section<const S extends Section, const O extends SectionOptions = NoOptions>(
  keys: S,
  options: O = {} as O,
): SettingBy<O, EntryOf<S>, ValuesOf<S>> {
  const schema = { ...sectionSchema(keys), ...options.schema };
  const read = (entry: EntryOf<S>, at: string): ValuesOf<S> => readSection(keys, entry, at);
  return build(schema, options as Options<EntryOf<S>>, read, '') as unknown as SettingBy<O, EntryOf<S>, ValuesOf<S>>;
}

/** Converts the value of a setting further. `read` is not called without a value. */
export function convert<Entry, Value, As extends string, Unit extends string, IsRequired extends boolean, Read>(
  setting: Setting<Entry, Value, As, Unit, IsRequired>,
  read: (value: Exclude<Value, undefined>, at: string) => Read,
): Setting<Entry, undefined extends Value ? Read | undefined : Read, As, Unit, IsRequired> {
  return {
    ...setting,
    read: (entry, at) => {
      const value = setting.read(entry, at);
      return (value === undefined ? undefined : read(value as Exclude<Value, undefined>, at)) as Read;
    },
  };
}

interface SectionSchema extends Schema {
  readonly required?: readonly string[];
  readonly properties: Readonly<Record<string, Schema>>;
}

/** The JSON Schema of a section. It has every key that the section may have; a section within it may be absent. */
export function sectionSchema(keys: Section): SectionSchema {
  const members = Object.entries(keys);
  const required = members.filter(([, member]) => isSetting(member) && member.isRequired).map(([key]) => key);
  return {
    type: 'object',
    additionalProperties: false,
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(
      members.map(([key, member]) => [
        key,
        isSetting(member) ? member.schema : { ...sectionSchema(member), default: {} },
      ]),
    ),
  };
}

/** Reads a section that the schema has accepted. Keys that a test leaves out have their defaults. */
export function readSection<S extends Section>(
  keys: S,
  entry: Partial<EntryOf<S>> | undefined,
  at: string,
): ValuesOf<S> {
  const entries: Readonly<Record<string, unknown>> = entry ?? {};
  const values = Object.entries(keys).map(([key, member]) =>
    isSetting(member)
      ? [nameValue(key, member), member.read(entries[key], join(at, key))]
      : [toCamelCase(key), readSection(member, entries[key] as object | undefined, join(at, key))],
  );
  return Object.fromEntries(values) as ValuesOf<S>;
}

/** The whole file has an empty path. */
function join(at: string, key: string): string {
  return at === '' ? key : `${at}.${key}`;
}

function isSetting(member: Setting | Section): member is Setting {
  return typeof member['read'] === 'function';
}

/** The name of the value in the program. */
function nameValue(key: string, { as, unit }: Setting): string {
  const name = toCamelCase(key);
  return as === '' ? name + (name.endsWith(unit) ? '' : unit) : as;
}

function toCamelCase(key: string): string {
  return key.replaceAll(/_(\w)/g, (_match, letter: string) => letter.toUpperCase());
}

function same<T>(entry: T): T {
  return entry;
}

function omitUndefined(members: Schema): Schema {
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined));
}
