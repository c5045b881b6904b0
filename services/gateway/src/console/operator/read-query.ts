import { invalid } from '../../dialects/wire/body-validator.ts';
import { PLAUSIBLE_ID } from '../../http/routes/task-id.ts';

/** The text of a filter; undefined: it is not set. */
export function readTextFilter(query: URLSearchParams, name: string, charactersMax: number): string | undefined {
  const text = query.get(name)?.trim() ?? '';
  if (text.length > charactersMax || text.includes('\0'))
    throw invalid(name, `must have at most ${charactersMax} characters`, 'invalid_request');
  return text === '' ? undefined : text;
}

/** The id of an object of ours; undefined: it is not set. */
export function readIdFilter(query: URLSearchParams, name: string): string | undefined {
  const id = query.get(name) ?? '';
  if (id === '') return undefined;
  if (!PLAUSIBLE_ID.test(id))
    throw invalid(name, 'must be the id of the last entry of the page before', 'invalid_request');
  return id;
}
