/** The parser of headers; the package's own way of fetching is not used. */
declare module 'probe-image-size/sync.js' {
  interface ImageHeader {
    readonly width: number;
    readonly height: number;
    readonly mime: string;
  }
  function probe(bytes: Uint8Array): ImageHeader | null;
  export default probe;
}
