import type { NewToken, Right } from '../../../api/tokens.ts';

/** What a person filled in. Fields that were left empty are absent, and the server judges the others. */
export function readTokenForm(data: FormData): NewToken {
  const text = (name: string): string => {
    const value = data.get(name);
    return typeof value === 'string' ? value.trim() : '';
  };
  const count = (name: string) => (text(name) === '' ? {} : { [name]: Number(text(name)) });
  const expires = text('expiresAt');
  return {
    name: text('name'),
    models: data.getAll('models').filter((model) => typeof model === 'string'),
    ...(text('limit') === '' ? {} : { limit: text('limit') }),
    ...(expires === '' ? {} : { expiresAt: new Date(expires).getTime() }),
    ...count('createsPerMinute'),
    webhooks: text('webhooks') as Right,
    tokens: text('tokens') as Right,
  };
}
