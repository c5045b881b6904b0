/** The parser of headers. This service does not use the fetch function of the package. */
declare module 'probe-image-size/sync.js' {
  interface ImageHeader {
    readonly width: number;
    readonly height: number;
    readonly mime: string;
  }
  function probe(bytes: Uint8Array): ImageHeader | null;
  export default probe;
}
