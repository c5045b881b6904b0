/** A longer name is compared up to here, so that a stranger's name costs little. */
const COMPARED_LENGTH_MAX = 64;
/** A known name may have one slip, and another for each of these lengths. */
const LETTERS_PER_SLIP = 4;

/** Returns the known name that was probably meant, or undefined if no known name is close. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  const bare = normalizeName(given);
  if (bare === '') return undefined;
  let best: { readonly name: string; readonly slips: number } | undefined;
  for (const name of known) {
    const allowed = 1 + Math.floor(normalizeName(name).length / LETTERS_PER_SLIP);
    const slips = countSlips(bare, normalizeName(name));
    if (slips <= allowed && slips < (best?.slips ?? Infinity)) best = { name, slips };
  }
  return best?.name;
}

/** Most misspellings differ in case and separators only. */
function normalizeName(name: string): string {
  return name
    .slice(0, COMPARED_LENGTH_MAX)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '');
}

/** Counts the letters that must be added, removed or replaced. */
function countSlips(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [at, letter] of Array.from(from).entries()) {
    const next = [at + 1];
    for (let column = 1; column <= to.length; column += 1)
      next.push(
        Math.min(
          (next[column - 1] ?? 0) + 1,
          (row[column] ?? 0) + 1,
          (row[column - 1] ?? 0) + (to[column - 1] === letter ? 0 : 1),
        ),
      );
    row = next;
  }
  return row[to.length] ?? 0;
}
