import { ApiError } from "../../../platform/contract/errors.ts";

/** Advice for a renewed login that the state does not have. */
const howToRenew =
  "A refresh or destroy logs in as the state remembers: after a renewal run up first, or set MICROAPPS_PASSWORD and MICROAPPS_ENDPOINT.";

/** Reports a refused login once: every call that needs one fails by the same error. */
export class RefusedLogin {
  #reported: unknown;

  /**
   * The sentence for a refused login; undefined for other errors. `remembered` is true when the login comes from the
   * state.
   */
  sentenceOf(error: unknown, remembered: boolean): string | undefined {
    if (!(error instanceof ApiError && error.code === "unauthorized" && error.endpoint === "login")) return undefined;
    if (this.#reported === error) return "not done, since the platform refuses the login, as is said once in this run.";
    this.#reported = error;
    return remembered ? `${error.message} ${howToRenew}` : error.message;
  }
}
