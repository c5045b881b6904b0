const KIB = 1024;
const UNITS = ['KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Writes a size such as `812 B` or `1.4 MiB`. */
export function asBytes(bytes: number): string {
  if (bytes < KIB) return `${bytes} B`;
  const power = Math.min(Math.floor(Math.log(bytes) / Math.log(KIB)), UNITS.length);
  return `${(bytes / KIB ** power).toFixed(1)} ${UNITS[power - 1] ?? ''}`;
}
