/** The text of markup, as a reader gets it. */
export function textOf(markup: string): string {
  return markup
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([.,:])/g, '$1')
    .trim();
}
