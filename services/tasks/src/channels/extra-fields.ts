import { readObject } from './json-fields.ts';

/** A value that can be passed on. It has no inner structure that could hide a URL. */
export type ExtraValue = string | number | boolean;

/** Reads the client's value of a field. Returns undefined for a value that must not be passed on. */
export type ExtraField = (value: unknown) => ExtraValue | undefined;

/** The fields that this service does not know and an upstream takes, by name. */
export type ExtraFields = Readonly<Record<string, ExtraField>>;

/** Media reach an upstream only through the protected path, so a text that could be read as a URL is not passed on. */
const LIKE_A_URL = /:\/\/|^\s*[/\\]{2}|^\s*data:|;base64,|\/ximg\/|^\s*www\./i;
const WHOLE = /^-?\d{1,15}$/;
const DECIMAL = /^-?\d{1,15}(\.\d{1,15})?$/;

/** A whole number. A form sends only texts, so a text of digits counts as a number. */
export const wholeExtra =
  (least: number, most: number): ExtraField =>
  (value) =>
    within(parseNumber(value, WHOLE), least, most, Number.isSafeInteger);
export const numberExtra =
  (least: number, most: number): ExtraField =>
  (value) =>
    within(parseNumber(value, DECIMAL), least, most, Number.isFinite);
export const flagExtra: ExtraField = (value) =>
  value === true || value === 'true' ? true : value === false || value === 'false' ? false : undefined;
export const textExtra =
  (charactersMax: number): ExtraField =>
  (value) => {
    const text = readTextOrEmpty(value);
    return text === '' || text.length > charactersMax || LIKE_A_URL.test(text) ? undefined : text;
  };

/** The checked values of the declared fields in the client's JSON. Every other field is left out. */
export function readExtraFields(json: string | undefined, fields: ExtraFields): Readonly<Record<string, ExtraValue>> {
  if (json === undefined) return {};
  const sent = readObject(parseJson(json));
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, read]) => {
      const value = Object.hasOwn(sent, name) ? read(sent[name]) : undefined;
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function parseNumber(value: unknown, form: RegExp): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && form.test(value) ? Number(value) : Number.NaN;
}

function within(value: number, least: number, most: number, isOne: (value: number) => boolean): number | undefined {
  return isOne(value) && value >= least && value <= most ? value : undefined;
}

function readTextOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
