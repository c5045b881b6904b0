/** The most entries of the queue that a list has, and that the number beside its name counts. */
export const ITEMS_MAX = 200;
