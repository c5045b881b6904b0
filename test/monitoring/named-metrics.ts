/** A metric of an expression with the labels that its selector compares. */
export interface NamedMetric {
  readonly name: string;
  readonly labels: readonly string[];
}

const STRINGS = /"(?:[^"\\]|\\.)*"/g;
const SELECTOR = /\b((?:reelgate[_:]|process_|nodejs_)[\w:]+|up)\b(?:\{([^}]*)\})?/g;
const GROUPING = /\b(?:by|on|group_left|without)\s*\(([^)]*)\)/g;

const wordsOf = (text: string): readonly string[] => text.match(/\w+/g) ?? [];

/** The metrics that an expression names. */
export function metricsOf(expr: string): readonly NamedMetric[] {
  return [...expr.replace(STRINGS, '""').replace(GROUPING, '').matchAll(SELECTOR)].map(
    ([, name = '', matchers = '']) => ({
      name,
      labels: wordsOf(matchers),
    }),
  );
}

/** The labels by which an expression aggregates and joins. */
export const groupingsOf = (expr: string): readonly string[] =>
  [...expr.replace(STRINGS, '""').matchAll(GROUPING)].flatMap(([, labels = '']) => wordsOf(labels));
