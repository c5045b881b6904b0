/** What an id of this service can look like. An impossible id is refused without a call. */
export const PLAUSIBLE_ID = /^[\w-]{1,64}$/;
