import { ScalarType } from '@bufbuild/protobuf';
import type { DescEnum } from '@bufbuild/protobuf';
import type { FieldRules } from '@reelgate/proto/rules/v1/rules';
import { INTEGERS } from './json-values.ts';

/** The type of a single value, as far as the rules distinguish it. */
export type ValueType =
  | { readonly is: 'string' | 'bytes' | 'integer' | 'other' | 'message' }
  | { readonly is: 'enum'; readonly values: DescEnum };

interface FieldCheck {
  /** Written as a method, so that TypeScript accepts a check of any value. It is compiled for the type of its field. */
  describeFault(value: unknown): string | undefined;
}

/**
 * Describes the fault of a value, or returns undefined if the value is valid. The message continues the name of the
 * field.
 */
export type Check = FieldCheck['describeFault'];

const QUOTED_LENGTH_MAX = 40;

export function toValueType(scalar: ScalarType): ValueType {
  if (scalar === ScalarType.STRING) return { is: 'string' };
  if (scalar === ScalarType.BYTES) return { is: 'bytes' };
  return { is: INTEGERS[scalar] === undefined ? 'other' : 'integer' };
}

/** Compiles the checks of a value that is set, in the order in which they run. */
export function compileChecks(type: ValueType, rules: FieldRules): readonly Check[] {
  switch (type.is) {
    case 'string':
      return [...lengthChecks(rules, 'characters', countCodePoints), ...textChecks(rules)];
    case 'bytes':
      return lengthChecks(rules, 'bytes', (bytes: Uint8Array) => bytes.length);
    case 'integer':
      return rangeCheck(rules);
    case 'enum':
      return nameCheck(rules, type.values);
    case 'message':
    case 'other':
      return [];
  }
}

/** Returns the message for a required value that is not set. */
export function describeRequirement(type: ValueType, rules: FieldRules): string {
  return type.is === 'enum' ? `is required; must be one of ${listAllowedNames(rules.in, type.values)}` : 'is required';
}

/** Refuses a value that the contract does not name. */
export function enumValueCheck(rules: FieldRules, values: DescEnum): Check {
  const names = listAllowedNames(rules.in, values);
  return (number: number) =>
    values.value[number] === undefined ? `has the unknown value ${number}; must be one of ${names}` : undefined;
}

/** Bounds on the number of items of a list. */
export function countChecks({ minItems, maxItems }: FieldRules): readonly Check[] {
  if (minItems === 0 && maxItems === 0) return [];
  const most = maxItems === 0 ? Infinity : maxItems;
  const wanted = describeBounds(minItems === 0 ? undefined : minItems, maxItems === 0 ? undefined : maxItems);
  return [
    ({ length }: readonly unknown[]) =>
      length < minItems || length > most ? `must have ${wanted} items; it has ${length}` : undefined,
  ];
}

function lengthChecks<T>(
  { minLen, maxLen }: FieldRules,
  unit: string,
  lengthOf: (value: T) => number,
): readonly Check[] {
  if (minLen === 0 && maxLen === 0) return [];
  const most = maxLen === 0 ? Infinity : maxLen;
  const wanted = describeBounds(minLen === 0 ? undefined : minLen, maxLen === 0 ? undefined : maxLen);
  return [
    (value: T & { readonly length: number }) => {
      // a text never has more code points than units, so most texts need no count
      if (value.length <= most && minLen === 0) return undefined;
      const length = lengthOf(value);
      return length < minLen || length > most ? `must have ${wanted} ${unit}; it has ${length}` : undefined;
    },
  ];
}

function textChecks({ pattern, notContains, in: allowed }: FieldRules): readonly Check[] {
  const checks: Check[] = [];
  if (pattern !== '') {
    const wanted = new RegExp(pattern, 'u');
    checks.push((text: string) => (wanted.test(text) ? undefined : `must match ${pattern}`));
  }
  if (notContains !== '')
    checks.push((text: string) =>
      text.includes(notContains) ? `must not contain ${JSON.stringify(notContains)}` : undefined,
    );
  if (allowed.length > 0) {
    const all = new Set(allowed);
    checks.push((text: string) =>
      all.has(text) ? undefined : `must be one of ${allowed.join(', ')}; it is ${quote(text)}`,
    );
  }
  return checks;
}

function rangeCheck({ gte, lte }: FieldRules): readonly Check[] {
  if (gte === undefined && lte === undefined) return [];
  const wanted = describeBounds(gte, lte);
  return [
    (value: number | bigint) =>
      (gte !== undefined && value < gte) || (lte !== undefined && value > lte)
        ? `must be ${gte !== undefined && lte !== undefined ? `from ${wanted}` : wanted}; it is ${value}`
        : undefined,
  ];
}

function nameCheck({ in: allowed }: FieldRules, { values }: DescEnum): readonly Check[] {
  if (allowed.length === 0) return [];
  const numbers = new Set(values.filter(({ name }) => allowed.includes(name)).map(({ number }) => number));
  if (numbers.size !== allowed.length) throw new Error(`not all of ${allowed.join(', ')} are values of the enum`);
  return [
    (number: number) =>
      numbers.has(number)
        ? undefined
        : `must be one of ${allowed.join(', ')}; it is ${values.find((one) => one.number === number)?.name ?? number}`,
  ];
}

/** The values that a field may have, as a text. */
export function listAllowedNames(allowed: readonly string[], { values }: DescEnum): string {
  const named = values.filter(({ number }) => number !== 0).map(({ name }) => name);
  return (allowed.length > 0 ? allowed : named).join(', ');
}

/** Such as `1 to 100`, `at least 1` and `at most 100`. */
function describeBounds(least: number | bigint | undefined, most: number | bigint | undefined): string {
  if (least === undefined) return `at most ${String(most)}`;
  return most === undefined ? `at least ${least}` : `${least} to ${most}`;
}

/** Counts Unicode code points, not UTF-16 units. */
function countCodePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, QUOTED_LENGTH_MAX));
}
