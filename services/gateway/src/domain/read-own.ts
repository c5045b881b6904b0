/** Returns the member of this name. Names of clients may be those that every object inherits, such as `constructor`. */
export function readOwn<T>(members: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}
