import { PolicyPack, validateResourceOfType } from "@pulumi/policy";
import { Organization, SeedRows, Team, TeamMember } from "pulumi-microapps";

/** Address of everybody who may be a member. */
const house = "@example.com";

// The classes stand for both kinds of provider: a rule holds in programs of any language.
new PolicyPack("microapps-policies", {
  enforcementLevel: "mandatory",
  policies: [
    {
      name: "organization-not-forced",
      description: "No organization is deleted together with what nobody declares.",
      validateResource: validateResourceOfType(Organization, ({ forceDestroy }, _, report) => {
        if (forceDestroy) report("forceDestroy is set: delete teams and members one by one before the organization.");
      }),
    },
    {
      name: "member-of-the-house",
      description: `Members have an address that ends in ${house}.`,
      validateResource: validateResourceOfType(TeamMember, ({ email }, _, report) => {
        if (typeof email !== "string" || email.toLowerCase().endsWith(house)) return; // or a user ID stands in its place
        report(`${email} is not of this company.`);
      }),
    },
    {
      name: "seed-removes-little",
      description: "One run removes at most a quarter of a seed's rows.",
      validateResource: validateResourceOfType(SeedRows, ({ maxRemovals = 0.25 }, _, report) => {
        if (maxRemovals > 0.25) report(`maxRemovals is ${maxRemovals}: 0.25 is the most.`);
      }),
    },
    {
      name: "team-described",
      description: "A team says what it is for.",
      enforcementLevel: "advisory",
      validateResource: validateResourceOfType(Team, ({ description }, _, report) => {
        if (!description) report("Give the team a description.");
      }),
    },
  ],
});
