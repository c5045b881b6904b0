/** A file says that it holds more than it can. */
export class FalseClaim extends Error {
  override readonly name = 'FalseClaim';
}

export function claim(holds: boolean, what: string): void {
  if (!holds) throw new FalseClaim(what);
}
