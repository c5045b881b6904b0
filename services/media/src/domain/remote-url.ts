export const URL_CHARACTERS_MAX = 4096;
const tooLong = (charactersMax: number) => ({
  fault: `must have an address of at most ${charactersMax} characters`,
});
/** The URL parser repairs other texts: a missing slash, a backslash, a tab. An address that needs repair is refused. */
const WELL_FORMED = /^https?:\/\/[^/\\]/i;
/** White space, control characters and backslashes. */
const UNWELCOME = /[\u0000-\u0020\u007f-\u00a0\\]|\s/u;
/** The parser drops an empty user name, as in `http://@host/`. */
const USER = /^[^/]*\/\/[^/?#]*@/;
const WITH_USER = { fault: 'must have an address without a user name or password' };

export type ParsedUrl = { readonly url: URL } | { readonly fault: string };

/** Parses an http or https address strictly. The host is checked later, when the connection is opened. */
export function parseRemoteUrl(text: string, charactersMax = URL_CHARACTERS_MAX): ParsedUrl {
  if (text.length > charactersMax) return tooLong(charactersMax);
  if (!WELL_FORMED.test(text) || UNWELCOME.test(text))
    return { fault: 'must have an address of the form https://host/path, without white space or backslashes' };
  if (USER.test(text)) return WITH_USER;
  const url = URL.parse(text);
  if (url === null) return { fault: 'must have a valid http or https address' };
  return checkRemoteUrl(url, charactersMax);
}

/** These rules apply to the address of a redirect too. */
export function checkRemoteUrl(url: URL, charactersMax = URL_CHARACTERS_MAX): ParsedUrl {
  if (url.href.length > charactersMax) return tooLong(charactersMax);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return { fault: 'must have an http or https address' };
  if (url.username !== '' || url.password !== '') return WITH_USER;
  return { url };
}
