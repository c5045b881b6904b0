/** The form of an id of this service. An impossible id is refused without a call. */
export const PLAUSIBLE_ID = /^[\w-]{1,64}$/;
