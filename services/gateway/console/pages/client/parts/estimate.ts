/** The answer of `POST /v1/videos/estimate`. */
export interface Estimate {
  readonly amount: string;
  readonly currency: string;
  readonly facts: Readonly<Record<string, number>>;
}
