/** What an upstream has or may have. It stands in the condition of an index in the same words. */
export const ADMITTED = "admission IN ('accepted', 'unknown')";

/** What the owner may see. */
export const VISIBLE = `${ADMITTED} AND deleted_at IS NULL`;
