// The part of opentype.js that the sandbox uses. The published types of the package pull in the whole DOM.
declare module 'opentype.js' {
  export type PathCommand =
    | { readonly type: 'M'; readonly x: number; readonly y: number }
    | { readonly type: 'L'; readonly x: number; readonly y: number }
    | { readonly type: 'Q'; readonly x1: number; readonly y1: number; readonly x: number; readonly y: number }
    | {
        readonly type: 'C';
        readonly x1: number;
        readonly y1: number;
        readonly x2: number;
        readonly y2: number;
        readonly x: number;
        readonly y: number;
      }
    | { readonly type: 'Z' };

  export type Glyph = {
    readonly index: number;
    readonly advanceWidth: number;
    getPath(x: number, y: number, fontSize: number): { readonly commands: readonly PathCommand[] };
  };

  export type Font = { readonly unitsPerEm: number; charToGlyph(character: string): Glyph };

  const opentype: { parse(bytes: ArrayBuffer, options?: { readonly lowMemory?: boolean }): Font };
  export { opentype as default };
}
