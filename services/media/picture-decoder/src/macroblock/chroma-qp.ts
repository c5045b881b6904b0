/** QPC of Table 8-15, from index 30. */
const HIGH = [29, 30, 31, 32, 32, 33, 34, 34, 35, 35, 36, 36, 37, 37, 37, 38, 38, 38, 39, 39, 39, 39];

export function chromaQp(qp: number, offset: number): number {
  const index = Math.min(51, Math.max(0, qp + offset));
  return HIGH[index - 30] ?? index;
}
