/** Reports whether the bucket refused the credentials. */
export function isForbidden(error: unknown): boolean {
  const { $metadata: answer } = error as { readonly $metadata?: { readonly httpStatusCode?: number } };
  return answer?.httpStatusCode === 401 || answer?.httpStatusCode === 403;
}
