/** A word by which a client accounts for its work, such as `spring-campaign`. */
export const LABEL = /^[A-Za-z0-9._:/-]{1,64}$/;
export const LABEL_MAX = 64;
/** The rule in the words of a refusal, after the name of the field. */
export const LABEL_RULE = 'must be 1 to 64 letters, digits and characters of . _ - : /, such as spring-campaign';
