/** The condition for tasks that an upstream has or may have. The condition of an index has the same text. */
export const ADMITTED = "admission IN ('accepted', 'unknown')";

/** The condition for tasks that the owner may see. */
export const VISIBLE = `${ADMITTED} AND deleted_at IS NULL`;
