import { Identities } from "../resources/model/identities.ts";
import type { Diff } from "../resources/model/resource.ts";
import type { Comparison } from "../resources/resource.ts";
import { TeamClaims } from "../resources/teamClaims.ts";
import { RowClaims } from "../seedRows/declared/claims.ts";

/** What the resources of one run declare and find out, in the memory of the process that serves them. */
export class Run {
  readonly claims = new TeamClaims();
  readonly rowClaims: RowClaims;
  readonly identities = new Identities();

  /**
   * @param directory the program's folder
   * @param keepsCells true where a seed may come that nobody knows of yet: cells of removed rows are kept for it
   */
  constructor(directory: string, keepsCells = false) {
    this.rowClaims = new RowClaims(directory, keepsCells);
  }

  /** For the context of a resource. */
  get known(): Pick<Run, "claims" | "rowClaims" | "identities"> {
    const { claims, rowClaims, identities } = this;
    return { claims, rowClaims, identities };
  }

  /** Notes what a comparison found out for the resources that follow; returns the rest of it. */
  compared(urn: string | undefined, { findings = {}, ...change }: Comparison): Diff {
    const { people, leaving, renewed = [] } = findings;
    if (people) this.claims.found(urn, people);
    if (leaving && urn !== undefined) this.rowClaims.leave(urn, leaving);
    for (const table of renewed) this.rowClaims.renew(table);
    return change;
  }
}
