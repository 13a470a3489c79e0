/** Why nothing is promoted, in one sentence with what to do. */
export class PromotionError extends Error {
  override readonly name = "PromotionError";
}
