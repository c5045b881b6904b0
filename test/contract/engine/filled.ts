import { Form } from './form.ts';
import { Containing, Described, Exactly } from './matchers.ts';

const NAME = /\{\{([a-z0-9-]+)\}\}/g;

/** A copy of a request or an expectation with a value in place of each `{{name}}`. */
export async function filled<T>(value: T, find: (name: string) => Promise<string>): Promise<T> {
  return (await fill(value, find)) as T;
}

async function fill(value: unknown, find: (name: string) => Promise<string>): Promise<unknown> {
  if (typeof value === 'string') return fillText(value, find);
  if (value instanceof Form)
    return new Form(
      ...(await Promise.all(
        value.parts.map(
          async ([name, part]) => [name, typeof part === 'string' ? await fillText(part, find) : part] as const,
        ),
      )),
    );
  if (value instanceof Exactly) return new Exactly((await fill(value.fields, find)) as Exactly['fields']);
  if (value instanceof Containing) return new Containing(await fillText(value.text, find));
  if (value instanceof Described || value instanceof RegExp) return value;
  if (Buffer.isBuffer(value)) return value;
  if (Array.isArray(value)) return Promise.all(value.map((item) => fill(item, find)));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(async ([name, field]) => [name, await fill(field, find)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function fillText(text: string, find: (name: string) => Promise<string>): Promise<string> {
  if (!text.includes('{{')) return text;
  const names = [...new Set([...text.matchAll(NAME)].map(([, name = '']) => name))];
  const values = new Map(await Promise.all(names.map(async (name) => [name, await find(name)] as const)));
  return text.replace(NAME, (_all, name: string) => values.get(name) ?? '');
}
