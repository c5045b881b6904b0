/** The filters of the list of tasks, as they stand in the address and in the call. */
export const FILTERS = ['state', 'kind', 'model', 'from', 'to', 'find'] as const;

/** The call behind an address. Parameters of others are left out. */
export function listPath(query: URLSearchParams): string {
  const own = new URLSearchParams();
  for (const name of [...FILTERS, 'after']) {
    const value = query.get(name)?.trim() ?? '';
    if (value !== '') own.set(name, value);
  }
  const text = own.toString();
  return text === '' ? '/tasks' : `/tasks?${text}`;
}
