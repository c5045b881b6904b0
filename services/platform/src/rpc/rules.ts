import { create, getOption, hasOption } from '@bufbuild/protobuf';
import type { DescField, DescMessage, DescOneof } from '@bufbuild/protobuf';
import { FieldRulesSchema, field as fieldOption, oneof as oneofOption } from '@reelgate/proto/rules/v1/rules';
import type { FieldRules } from '@reelgate/proto/rules/v1/rules';
import { Problem } from '../problem.ts';
import { newNonZeroTest, newFieldReader, newPresenceTest } from './message-fields.ts';
import type { Fields } from './message-fields.ts';
import { compileChecks, countChecks, enumValueCheck, describeRequirement, toValueType } from './value-rules.ts';
import type { Check, ValueType } from './value-rules.ts';

/** Refuses a message that breaks a rule of its contract. */
export type AssertRules = (message: object) => void;

interface Breach {
  /** The path of the field, below the position of the check. */
  readonly path: string;
  readonly reason: string;
  readonly message: string;
}

/** Finds the first breach. The path is built only for a breach, so a sound message costs no text. */
type Find = (value: unknown) => Breach | undefined;

const NO_RULES = create(FieldRulesSchema);
const REASON = 'invalid_request';
const NOTHING: AssertRules = () => undefined;

/** A rule by its name in the contract, with the types of values that it fits. */
const FITS: readonly (readonly [name: string, isSet: (rules: FieldRules) => boolean, types: readonly string[]])[] = [
  ['min_len or max_len', ({ minLen, maxLen }) => minLen > 0 || maxLen > 0, ['string', 'bytes']],
  ['pattern or not_contains', ({ pattern, notContains }) => pattern + notContains !== '', ['string']],
  ['gte or lte', ({ gte, lte }) => gte !== undefined || lte !== undefined, ['integer']],
  ['in', (rules) => rules.in.length > 0, ['string', 'enum']],
  ['min_items or max_items', ({ minItems, maxItems }) => minItems > 0 || maxItems > 0, ['list']],
  ['items or refused_singly', ({ items, refusedSingly }) => items !== undefined || refusedSingly, ['list']],
];

/**
 * The check of a message against the rules of its contract, compiled once. A rule that does not fit its field throws
 * here, at the start of the program.
 */
export function compileRuleCheck(message: DescMessage): AssertRules {
  const find = compileMessage(message);
  if (find === undefined) return NOTHING;
  return (value) => {
    const breach = find(value);
    if (breach === undefined) return;
    const { path, reason, message: said } = breach;
    throw new Problem({ kind: 'invalid', reason, field: path.slice(1), message: said });
  };
}

/** A field that a rule of the contract requires. The server has refused a request without it. */
export function requireField<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`${name} is absent although the contract requires it`);
  return value;
}

interface CompiledMessage {
  /** False while its fields are being compiled, because one of them may contain it. */
  isWhole: boolean;
  find?: Find | undefined;
}

/** Many methods contain the same messages. */
let compiledMessages = new WeakMap<DescMessage, CompiledMessage>();

/** Returns undefined if the rules never refuse such a message. */
function compileMessage(message: DescMessage): Find | undefined {
  const known = compiledMessages.get(message);
  if (known !== undefined) return known.isWhole ? known.find : (value) => known.find?.(value);
  const self: CompiledMessage = { isWhole: false };
  compiledMessages.set(message, self);
  try {
    const finds = [
      ...message.fields.map((field) => compileField(field, compileMessage)),
      ...message.oneofs.map(compileOneof),
    ].filter((find) => find !== undefined);
    self.find = finds.length === 0 ? undefined : combineFinds(finds);
  } catch (error) {
    // Others may contain the message that has no check now.
    compiledMessages = new WeakMap();
    throw error;
  }
  self.isWhole = true;
  return self.find;
}

function combineFinds(finds: readonly Find[]): Find {
  return (value) => {
    for (const find of finds) {
      const breach = find(value);
      if (breach !== undefined) return breach;
    }
    return undefined;
  };
}

type Compile = (message: DescMessage) => Find | undefined;

function compileField(field: DescField, inside: Compile): Find | undefined {
  const rules = hasOption(field, fieldOption) ? getOption(field, fieldOption) : NO_RULES;
  const find = field.fieldKind === 'list' ? compileList(field, rules, inside) : compileSingle(field, rules, inside);
  if (find === undefined) return undefined;
  const read = newFieldReader(field);
  return (message) => {
    const breach = find(read(message as Fields));
    return breach && { ...breach, path: `.${field.name}${breach.path}` };
  };
}

function compileSingle(field: DescField, rules: FieldRules, inside: Compile): Find | undefined {
  if (field.fieldKind === 'map') {
    assertFits(field, rules, 'map');
    return compileValue({ rules, checks: [], isSet: newPresenceTest(field) });
  }
  const type = readValueType(field);
  assertFits(field, rules, type.is);
  const isSet = newPresenceTest(field);
  return compileType(type, { rules, isSet, inner: field.message && inside(field.message) });
}

function compileList(field: DescField & { fieldKind: 'list' }, rules: FieldRules, inside: Compile): Find | undefined {
  const { items = NO_RULES } = rules;
  const type = readValueType(field);
  assertFits(field, rules, 'list');
  assertFits(field, items, type.is);
  const whole = compileValue({ rules, checks: countChecks(rules), isSet: newPresenceTest(field) });
  const inner = field.message && inside(field.message);
  const each = rules.refusedSingly
    ? undefined
    : compileType(type, { rules: items, isSet: newNonZeroTest(field), inner });
  if (each === undefined) return whole;
  return (list) => {
    const breach = whole?.(list);
    if (breach !== undefined) return breach;
    let index = 0;
    for (const item of list as readonly unknown[]) {
      const found = each(item);
      if (found !== undefined) return { ...found, path: `[${index}]${found.path}` };
      index += 1;
    }
    return undefined;
  };
}

interface TypeOptions {
  readonly rules: FieldRules;
  readonly isSet: (value: unknown) => boolean;
  readonly inner?: Find | undefined;
}

function compileType(type: ValueType, { rules, isSet, inner }: TypeOptions): Find | undefined {
  const own = compileValue({
    rules,
    checks: compileChecks(type, rules),
    isSet,
    requirement: describeRequirement(type, rules),
  });
  const known =
    type.is === 'enum'
      ? compileValue({ rules: dropMessage(rules), checks: [enumValueCheck(rules, type.values)], isSet })
      : undefined;
  const below: Find | undefined = inner && ((value) => (value === undefined ? undefined : inner(value)));
  const finds = [known, own, below].filter((find) => find !== undefined);
  return finds.length > 1 ? combineFinds(finds) : finds[0];
}

interface ValueOptions {
  readonly rules: FieldRules;
  readonly checks: readonly Check[];
  readonly isSet: (value: unknown) => boolean;
  readonly requirement?: string;
}

function compileValue({ rules, checks, isSet, requirement = 'is required' }: ValueOptions): Find | undefined {
  const { required } = rules;
  if (!required && checks.length === 0) return undefined;
  const reason = rules.reason === '' ? REASON : rules.reason;
  const newBreach = (said: string): Breach => ({
    path: '',
    reason,
    message: rules.message === '' ? said : rules.message,
  });
  return (value) => {
    if (!isSet(value)) return required ? newBreach(requirement) : undefined;
    for (const check of checks) {
      const said = check(value);
      if (said !== undefined) return newBreach(said);
    }
    return undefined;
  };
}

/** An unknown value of an enum is named, even if the rule has its own message. */
function dropMessage(rules: FieldRules): FieldRules {
  return { ...rules, required: false, message: '' };
}

function compileOneof(oneof: DescOneof): Find | undefined {
  const rules = hasOption(oneof, oneofOption) ? getOption(oneof, oneofOption) : undefined;
  if (rules?.required !== true) return undefined;
  const breach: Breach = {
    path: `.${oneof.name}`,
    reason: rules.reason === '' ? REASON : rules.reason,
    message: `is required; set one of ${oneof.fields.map(({ name }) => name).join(', ')}`,
  };
  return (message) =>
    ((message as Fields)[oneof.localName] as { readonly case?: string }).case === undefined ? breach : undefined;
}

function readValueType(field: DescField): ValueType {
  if (field.message !== undefined) return { is: 'message' };
  if (field.enum !== undefined) return { is: 'enum', values: field.enum };
  return field.scalar === undefined ? { is: 'other' } : toValueType(field.scalar);
}

function assertFits(field: DescField, rules: FieldRules, type: string): void {
  const misfit = FITS.find(([, isSet, types]) => isSet(rules) && !types.includes(type));
  if (misfit !== undefined)
    throw new Error(`${field.parent.typeName}.${field.name} has the rule ${misfit[0]}, which does not fit a ${type}`);
}
