/** The amount that is held under a price key, in units of the currency. */
export interface HeldMoney {
  readonly priceKey: string;
  readonly currency: string;
  readonly units: number;
}

/** The open holds of tasks and of calls. Their number is bounded by the limits on what is in flight. */
export type ReadHeldMoney = () => Promise<readonly HeldMoney[]>;
