import { transformSync } from 'esbuild';

/** Makes JavaScript of a page for Jest, with the lines of the source. Node strips types, but takes no TSX. */
export function process(text: string, sourcefile: string): { readonly code: string; readonly map: string } {
  return transformSync(text, {
    loader: 'tsx',
    format: 'esm',
    target: 'es2024',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    sourcemap: 'external',
    sourcefile,
  });
}
