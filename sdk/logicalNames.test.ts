import { expect, test } from "@jest/globals";
import { type LogicalName, nameBelow } from "../provider/environment/logicalNames.ts";
import { rootName } from "./program.ts";

/** All names under which the SDK and the aliases make an engine look, as the SDK of an engine without specs does it. */
function lookedFor(name: LogicalName, parent: LogicalName): string[] {
  const child = name.now;
  const replaced = (each: string, former: string): string =>
    each.startsWith(parent.now) ? former + each.slice(parent.now.length) : each;
  const inherited = parent.own.flatMap((former) => [child, ...name.own].map((each) => replaced(each, former)));
  return [...new Set([...name.own, ...inherited])].toSorted();
}

const environment = rootName("environment", undefined);

test("a name without former ones has no aliases", () => {
  const organization = nameBelow(environment, "acme");
  expect(organization.own).toEqual([]);
  expect(nameBelow(organization, "crew").own).toEqual([]);
});

test("a team and its members follow an organization and a team that were renamed at once, each more than once", () => {
  const organization = nameBelow(environment, "apex", ["acme", "zenith"]);
  const team = nameBelow(organization, "core", ["crew"]);
  const member = nameBelow(team, "ada@example.com");
  expect(lookedFor(organization, environment)).toEqual(["environment/acme", "environment/zenith"]);
  expect(lookedFor(team, organization)).toEqual([
    "environment/acme/core",
    "environment/acme/crew",
    "environment/apex/crew",
    "environment/zenith/core",
    "environment/zenith/crew",
  ]);
  expect(lookedFor(member, team)).toEqual([
    "environment/acme/core/ada@example.com",
    "environment/acme/crew/ada@example.com",
    "environment/apex/crew/ada@example.com",
    "environment/zenith/core/ada@example.com",
    "environment/zenith/crew/ada@example.com",
  ]);
});

test("a key that begins with the other one leads to nobody else's things", () => {
  const organization = nameBelow(environment, "ab", ["abb"]);
  const team = nameBelow(organization, "cr", ["crew"]);
  expect(lookedFor(team, organization)).toEqual(["environment/ab/crew", "environment/abb/cr", "environment/abb/crew"]);
  expect(lookedFor(nameBelow(team, "roster"), team)).toEqual([
    "environment/ab/crew/roster",
    "environment/abb/cr/roster",
    "environment/abb/crew/roster",
  ]);
});

test("an environment that was renamed itself, by name or by URN, takes everything along", () => {
  const aliases = [{ name: "old" }, "urn:pulumi:dev::project::microapps:index:Environment::older"];
  const renamed = rootName("environment", { aliases });
  const organization = nameBelow(renamed, "apex", ["acme"]);
  const team = nameBelow(organization, "crew");
  expect(lookedFor(organization, renamed)).toEqual([
    "environment/acme",
    "old/acme",
    "old/apex",
    "older/acme",
    "older/apex",
  ]);
  expect(lookedFor(team, organization)).toEqual([
    "environment/acme/crew",
    "old/acme/crew",
    "old/apex/crew",
    "older/acme/crew",
    "older/apex/crew",
  ]);
});
