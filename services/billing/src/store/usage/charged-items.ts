import type { ChargeBasis } from '../../domain/hold.ts';
import type { Quantities } from '../../domain/usage.ts';
import type { ReportedParts } from './parts-text.ts';

/** A place in the order of settlements: after the item with this id that was settled then. */
export interface ItemPlace {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly id: string;
}

/** A settled task, job or call. */
export interface ChargedItem extends ItemPlace, ReportedParts {
  readonly tokenId: string;
  readonly priceKey: string;
  /** The label of its request, empty if it has no label. */
  readonly label: string;
  readonly basis: ChargeBasis;
  readonly sum: Quantities;
}

export interface ItemQuery {
  readonly accountId: string;
  /** The page begins after this place. */
  readonly after: ItemPlace;
  /** Milliseconds since 1970, exclusive. */
  readonly to: number;
  /** The most items of the page. */
  readonly limit: number;
}
