/** The most letters that a typing error gets wrong. */
const DISTANCE_MAX = 2;

/** The known word that is nearest to the typed one, if one is near enough. */
export function suggestion(typed: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((word) => ({ word, distance: word.startsWith(typed) && typed.length > 2 ? 1 : computeDistance(typed, word) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best !== undefined && best.distance <= DISTANCE_MAX ? best.word : undefined;
}

/** The Levenshtein distance between two words: insertions, deletions and replacements. */
function computeDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [index, letter] of [...from].entries()) {
    const above = row;
    row = [index + 1];
    for (const [at, other] of [...to].entries()) {
      const replaced = (above[at] ?? 0) + (letter === other ? 0 : 1);
      row.push(Math.min(replaced, (above[at + 1] ?? 0) + 1, (row[at] ?? 0) + 1));
    }
  }
  return row.at(-1) ?? 0;
}
