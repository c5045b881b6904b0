/** No header that steers a request, such as `host` or `range`, has such a name. */
const CREDENTIAL_HEADER = /^(?:authorization|x-[a-z0-9-]{1,60})$/;

/** Reports whether a header of this name can hold the credential of a result. */
export function isCredentialHeader(name: string): boolean {
  return CREDENTIAL_HEADER.test(name);
}
