export function parseSplit(query: URLSearchParams): 'model' | 'token' {
  return query.get('split') === 'token' ? 'token' : 'model';
}

/** The form of the chart: each day alone, or the sum up to it. */
export type ChartShape = 'days' | 'sum';

export function parseShape(query: URLSearchParams): ChartShape {
  return query.get('show') === 'sum' ? 'sum' : 'days';
}
