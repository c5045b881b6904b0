const STEP = 1024;
const UNITS = ['B', 'KiB', 'MiB', 'GiB'];

/** Writes `812 B`, `4.2 MiB`. */
export function bytesText(bytes: number): string {
  const unit = bytes < STEP ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(bytes) / Math.log(STEP)));
  const value = bytes / STEP ** unit;
  return `${unit === 0 ? String(bytes) : value.toFixed(1)} ${UNITS[unit] ?? ''}`;
}
