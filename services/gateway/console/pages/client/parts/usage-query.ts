import type { UsageSplit } from '../../../api/usage.ts';

export function parseSplit(query: URLSearchParams): UsageSplit {
  const split = query.get('split');
  return split === 'token' || split === 'label' ? split : 'model';
}

/** The form of the chart: each day alone, or the sum up to it. */
export type ChartShape = 'days' | 'sum';

export function parseShape(query: URLSearchParams): ChartShape {
  return query.get('show') === 'sum' ? 'sum' : 'days';
}
