import type { Hosted, HostedPlatforms } from "../platform/hosted.ts";

/** Subject of an action: one platform, and the host of all of them. */
export interface Administrated extends Hosted {
  all: HostedPlatforms;
  /** Address of the main platform, as the caller has it. */
  url: string;
  /** True if other machines administrate it, too. */
  allowAdmin: boolean;
}
