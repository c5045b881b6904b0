/** A file claims more content than it can hold. */
export class FalseClaim extends Error {
  override readonly name = 'FalseClaim';
}

export function claim(holds: boolean, what: string): void {
  if (!holds) throw new FalseClaim(what);
}
