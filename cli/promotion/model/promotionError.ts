import { DataRefusal } from "../../changes/base/dataRefusal.ts";

/** Why nothing is promoted, in one sentence with what to do. */
export class PromotionError extends DataRefusal {
  override readonly name = "PromotionError";
}
