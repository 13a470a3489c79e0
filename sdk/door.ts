import * as pulumi from "@pulumi/pulumi";
import { doors, type Door } from "../provider/pulumi/configuration/configuration.ts";
import { readVariable } from "../provider/pulumi/configuration/keys.ts";
import { providerType, urnThrough } from "../provider/pulumi/doors.ts";

/** The way that a program chooses for the classes: `microapps:door` of the stack, dynamic resources by default. */
export function chosenDoor(): Door {
  const chosen = readVariable(process.env, "door") || pulumi.runtime.getConfig("microapps:door") || "dynamic";
  const known = doors.find((one) => one === chosen);
  if (known === undefined)
    throw new pulumi.RunError(`microapps:door must be ${doors.join(" or ")}, and is "${chosen}"`);
  return known;
}

/** The other way. */
export const other = (door: Door): Door => (door === "dynamic" ? "plugin" : "dynamic");

/**
 * The alias of a resource that was registered through the other door: it stays what it is. All types of its URN change
 * at once, those of its parents too; the SDK derives no such alias from one of a type alone.
 */
export const throughOther = (now: Door, urn: Promise<string>): pulumi.ResourceOptions => ({
  aliases: [urn.then((text) => urnThrough(other(now), text))],
});

/** As {@link throughOther}, of a provider. */
export const providerThroughOther = (now: Door): pulumi.ResourceOptions => ({
  aliases: [{ type: providerType(other(now)) }],
});
